"""What language models are shown, and asked for beyond a move: ratings, reasons, notes, several answers, roles."""
