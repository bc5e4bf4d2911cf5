"""How right a model is."""
