"""What a person sees while waiting."""
