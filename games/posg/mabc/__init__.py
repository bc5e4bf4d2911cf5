"""Two nodes that share a channel on which one can send at a time."""
