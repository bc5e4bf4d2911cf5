"""Planners: standard library alone, since they run beside a model in its sandbox."""
