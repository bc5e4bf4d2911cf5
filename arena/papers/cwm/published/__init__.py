"""What the paper on code world models reports, and how its tables are laid out."""
