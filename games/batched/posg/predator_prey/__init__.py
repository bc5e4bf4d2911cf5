"""Predators and prey for thousands of games at once."""
