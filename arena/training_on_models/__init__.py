"""PPO on a synthesised model."""
