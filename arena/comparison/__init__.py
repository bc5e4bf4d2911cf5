"""Agents side by side."""
