"""Played games as data."""
