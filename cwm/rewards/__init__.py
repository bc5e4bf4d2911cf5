"""Rewards of language models' answers, as trainers call them."""

from cwm.rewards.functions import deduction_reward, format_reward, rating_reward, regret_reward

__all__ = ["deduction_reward", "format_reward", "rating_reward", "regret_reward"]
