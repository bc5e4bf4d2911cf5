"""What a program is told to offer; prompts are rendered from it."""
