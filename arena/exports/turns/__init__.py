"""Decisions as rows of data: for reading, for supervised and for reinforcement learning."""
