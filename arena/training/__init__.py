"""PPO and its relatives on batched games."""
