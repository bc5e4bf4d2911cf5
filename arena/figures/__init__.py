"""Estimates, and how numbers and pages are written."""
