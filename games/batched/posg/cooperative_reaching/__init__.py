"""Cooperative reaching for thousands of games at once."""
