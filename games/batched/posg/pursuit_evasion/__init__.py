"""Pursuit and evasion for thousands of games at once."""
