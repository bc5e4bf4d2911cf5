"""Processes, threads and caches of this computer."""
