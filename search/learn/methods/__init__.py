"""Learning with others than oneself."""
