"""Decisions of finished games, one by one: where they were taken, and what every move was worth there."""
