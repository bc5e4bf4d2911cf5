"""What the paper on language models in Hanabi reports."""
