"""How policies sit down and how well they do."""
