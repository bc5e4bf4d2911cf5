"""OvercookedV2 for thousands of games at once, as JaxMARL has it."""
