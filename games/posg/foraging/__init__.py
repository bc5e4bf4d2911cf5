"""Two foragers of some strength, and food that some can lift only together."""
