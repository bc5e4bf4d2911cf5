"""Language models as players of Hanabi: *Sparks of Cooperative Reasoning* (arXiv 2601.18077)."""
