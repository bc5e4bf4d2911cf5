"""A drone hunts a fugitive who looks for a safe house."""
