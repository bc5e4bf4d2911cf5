"""What calls an untrusted program, in the worker."""
