"""A verified model as a batched program on arrays: traced in the sandbox, read, proved equal."""
