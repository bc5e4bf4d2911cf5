"""Published papers: their numbers, and the tables and figures of ours beside them."""
