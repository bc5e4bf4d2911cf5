"""Observations as vectors, by schema."""
