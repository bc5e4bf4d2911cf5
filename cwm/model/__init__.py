"""A finished model, as a game and as an environment."""
