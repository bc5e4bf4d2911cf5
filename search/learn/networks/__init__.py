"""Actor-critic networks: an encoder of observations, a memory, and two heads; one module a file."""
