"""Agents that learn: networks, recurrent PPO, and methods for coordination with strangers; no game has a name here."""
