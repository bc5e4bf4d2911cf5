"""What both sides of the pipe know."""
