"""JSON out of a language model's answer: the last object wins, and prose is never scanned for a meaning."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

_OBJECT_START = re.compile(r"\{\s*[\"']")


class NoJsonAnswerError(ValueError):
    """The answer holds no JSON object that answers, or its last one is broken."""


class BrokenJsonError(NoJsonAnswerError):
    """The last JSON object of the answer is cut off, or is none."""


def last_object(
    answer: str, required: Sequence[str] = (), made: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> dict[str, Any]:
    """Returns the last JSON object in an answer that has all `required` keys; inner objects do not count.

    Reasoning may hold earlier objects, so the last one wins. If something later looks like an object and is none (cut
    off, or in another notation), the model meant that, so nothing earlier is taken in its place.

    Args:
        answer: the text, with or without fences and prose.
        required: keys that the object must have.
        made: makes an object of its keys and values as they are written, a key twice too; None for a dict.

    Raises:
        BrokenJsonError: what looks like the last object is none.
        NoJsonAnswerError: there is no such object.
    """
    found: dict[str, Any] | None = None
    broken = False
    position = 0
    constants: list[str] = []
    decoder = json.JSONDecoder(parse_constant=constants.append, object_pairs_hook=made)
    while (start := answer.find("{", position)) >= 0:
        constants.clear()
        try:
            value, position = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError) as error:
            # What the parser read before it failed lies inside the broken object, and is no answer of its own.
            position = max(start + 1, getattr(error, "pos", 0))
            broken = broken or _OBJECT_START.match(answer, start) is not None
            continue
        broken = bool(constants)
        if not broken and all(key in value for key in required):
            found = value
    if broken:
        raise BrokenJsonError("the last JSON object of the answer is cut off or is no valid JSON")
    if found is None:
        keys = f" with {', '.join(required)}" if required else ""
        raise NoJsonAnswerError(f"the answer holds no JSON object{keys}")
    return found
