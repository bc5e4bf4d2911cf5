"""Commands that look at the decisions of finished games."""
