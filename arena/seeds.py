"""Seeds and keys derived from content, so that neither order nor parallelism changes a result."""

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """Returns `value` as JSON text that is the same for equal values.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def content_key(value: Any) -> str:
    """Returns the SHA-256 of the canonical JSON of `value`, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def derive(*parts: Any) -> int:
    """Returns a seed of 63 bits that depends on every part and on nothing else."""
    return int(content_key(list(parts))[:16], 16) >> 1
