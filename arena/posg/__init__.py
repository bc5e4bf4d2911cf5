"""Games of simultaneous moves: what populations of policies are worth to each other."""
