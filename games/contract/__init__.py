"""The contract of a game, as code."""
