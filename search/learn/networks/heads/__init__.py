"""From features to actions and values."""
