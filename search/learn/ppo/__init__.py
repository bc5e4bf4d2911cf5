"""Proximal policy optimisation: games, returns, losses, updates."""
