"""Writing the model and mending it."""
