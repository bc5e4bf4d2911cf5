"""What a traced function's text may hold: read, checked and built anew."""
