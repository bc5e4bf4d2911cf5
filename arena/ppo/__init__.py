"""Agents that learn by PPO on a code world model: settings, training, choice of the best, policies on disk."""
