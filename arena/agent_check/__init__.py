"""What an agent of the user's own does wrong."""
