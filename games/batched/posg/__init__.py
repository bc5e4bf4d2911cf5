"""Games of simultaneous moves for thousands of games at once, in JAX: the tables and the chance of their references."""
