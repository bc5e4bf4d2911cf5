"""Trained policies on disk, and the shipped ones."""
