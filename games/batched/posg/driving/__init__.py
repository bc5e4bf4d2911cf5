"""Driving for thousands of games at once."""
