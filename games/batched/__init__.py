"""The interface of games that are played by the thousand, in JAX, and what wraps them."""
