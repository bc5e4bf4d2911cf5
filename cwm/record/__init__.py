"""The record of a run, resumable."""
