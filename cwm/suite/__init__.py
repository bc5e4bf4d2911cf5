"""Unit tests made from trajectories, and running them."""
