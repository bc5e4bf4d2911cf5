"""Two agents before two doors, one of which hides a tiger."""
