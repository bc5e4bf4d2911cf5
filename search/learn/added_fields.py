"""Settings that came later, told where they are not at their defaults alone: older records stay what they are."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any


def without_defaults(settings: Any, told: dict[str, Any], added: Sequence[str]) -> dict[str, Any]:
    """Returns what settings tell of themselves, without added fields that are at their defaults.

    Args:
        settings: a dataclass.
        told: all its fields.
        added: names of fields that came later; each has a default.
    """
    usual = {field.name: field.default for field in fields(settings) if field.name in added}
    return {name: value for name, value in told.items() if name not in usual or getattr(settings, name) != usual[name]}
