"""What settings may be; one that came from a file may be of any type."""

import math


def is_whole(value: object, least: int) -> bool:
    """Whether a value is a whole number, `least` or more."""
    return isinstance(value, int) and value >= least


def is_number(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether a value is a number in a range, neither infinite nor undefined."""
    return isinstance(value, int | float) and math.isfinite(value) and least <= value <= most


def is_positive(value: object) -> bool:
    """Whether a value is a number above 0, neither infinite nor undefined."""
    return is_number(value, 0) and value != 0
