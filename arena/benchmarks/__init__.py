"""Times and strengths, measured."""
