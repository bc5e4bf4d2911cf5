"""Two predators who catch what flees from them only together."""
