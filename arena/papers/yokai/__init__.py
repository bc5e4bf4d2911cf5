"""The Yōkai Learning Environment."""
