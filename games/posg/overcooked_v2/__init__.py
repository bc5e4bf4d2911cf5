"""Chefs in a kitchen who cook what only some of them may know is asked for: OvercookedV2."""
