"""A faster program with the same answers."""
