"""Level-based foraging for thousands of games at once."""
