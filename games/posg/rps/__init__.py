"""Rock, paper, scissors, again and again."""
