"""Canonical JSON, and the keys and seeds that are derived from it: neither order nor parallelism changes a result."""

import hashlib
import json
from typing import Any


def ordered_json(value: Any) -> str:
    """Returns JSON that keeps the order of keys, no spaces and ASCII alone: what was stored comes back as it was.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical_json(value: Any) -> str:
    """Returns JSON with sorted keys, no spaces and ASCII alone: equal values give equal bytes on every machine.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def content_key(value: Any) -> str:
    """Returns the SHA-256 of the canonical JSON of `value`, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def derive(*parts: Any) -> int:
    """Returns a seed of 63 bits that depends on every part and on nothing else."""
    return int(content_key(list(parts))[:16], 16) >> 1


def program_hash(source: str) -> str:
    """Returns the SHA-256 of a program's source, in hexadecimal."""
    return hashlib.sha256(source.encode("utf-8")).hexdigest()
