"""Games in which several agents act at the same time: partially observable stochastic games (POSGs)."""
