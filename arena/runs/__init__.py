"""The folder of one synthesis: wishes, inputs, settings."""
