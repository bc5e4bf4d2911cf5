"""Hanabi for thousands of games at once, in JAX."""
