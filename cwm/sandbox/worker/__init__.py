"""The worker's process itself."""
