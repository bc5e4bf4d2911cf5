"""Code World Models for General Game Playing."""
