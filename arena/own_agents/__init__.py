"""Agents of the user's own: classes of his, and programs in any language."""
