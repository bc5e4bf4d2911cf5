"""The stages of `cwm synthesize`."""
