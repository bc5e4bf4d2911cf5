"""Games as OpenSpiel has them, and OpenSpiel's games as ours."""
