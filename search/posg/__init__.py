"""Planners for games in which several agents act at once: one search, several settings; standard library alone."""
