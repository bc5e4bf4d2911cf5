"""From an observation to features."""
