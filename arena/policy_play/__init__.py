"""What trained policies do together."""
