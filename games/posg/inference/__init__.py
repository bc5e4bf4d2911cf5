"""What is hidden from an agent of a game of simultaneous moves, drawn by filters over its rules."""
