"""JSON out of a language model's answer: the last object wins, and prose is never scanned for a meaning."""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

_BROKEN_OBJECT = re.compile(r"\{\s*[\"']")


class NoJsonAnswerError(ValueError):
    """The answer holds no JSON object that answers, or its last one is broken."""


def last_object(answer: str, required: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the last JSON object in an answer that has all `required` keys; inner objects do not count.

    Reasoning may hold earlier objects, so the last one wins. If something later looks like an object and is none (cut
    off, or in another notation), the model meant that, so nothing earlier is taken in its place.

    Args:
        answer: the text, with or without fences and prose.
        required: keys that the object must have.

    Raises:
        NoJsonAnswerError: there is no such object.
    """
    found: dict[str, Any] | None = None
    position, outside = 0, 0
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    while (start := answer.find("{", position)) >= 0:
        try:
            value, position = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        outside = position
        if all(key in value for key in required):
            found = value
    if _BROKEN_OBJECT.search(answer, outside):
        raise NoJsonAnswerError("the last JSON object of the answer is cut off or is no valid JSON")
    if found is None:
        keys = f" with {', '.join(required)}" if required else ""
        raise NoJsonAnswerError(f"the answer holds no JSON object{keys}")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
