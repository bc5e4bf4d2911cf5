"""Decisions of finished games: what every move was worth there, and how well players track what can be known."""
