"""Games nobody prepared, by which language models are measured that write world models."""
