"""Pages and printed tables."""
