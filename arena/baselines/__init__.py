"""Trained baselines on Yōkai: recipes, training, shipped checkpoints, and their play in the arena."""
