"""The tables of the paper on language models in Hanabi, with ours beside them."""
