"""Pages of runs and of tournaments: what they came to, who beat whom, games to watch."""
