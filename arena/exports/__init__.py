"""Games and models for other programs and eyes."""
