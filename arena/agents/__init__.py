"""Who may sit at a table."""
