"""Canonical requests: the key of a request, how often it was asked, and JSON forms of requests and completions."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from cwm.llm.api import Completion, Message, Outcome, Request, Role, Usage
from cwm.storage.keys import content_key

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
ROLES: tuple[Role, ...] = get_args(Role)


def canonical_request(request: Request) -> dict[str, Any]:
    """Returns `request.canonical()` with numbers in one form, so that temperature 0 and 0.0 have one key."""
    canonical = request.canonical()
    if request.temperature is not None:
        canonical["temperature"] = float(request.temperature)
    return canonical


def request_key(request: Request, model: str | None = None) -> str:
    """Returns what identifies a request: messages and sampling parameters, never its purpose or occurrence.

    Args:
        request: the request.
        model: the model's name where answers of several models are kept together, else None.

    Returns:
        64 hexadecimal digits.
    """
    canonical = canonical_request(request)
    return content_key(canonical if model is None else {"model": model, "request": canonical})


class Occurrences:
    """Counts equal requests, thread-safe: the first one has number 0."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def number(self, request: Request, key: str) -> int:
        """Returns the request's own occurrence number where it has one, else the next of its key."""
        with self._lock:
            number = self._seen[key] if request.occurrence is None else request.occurrence
            self._seen[key] = max(self._seen[key], number + 1)
            return number


def request_to_json(request: Request) -> dict[str, Any]:
    """Returns the whole request as JSON, its purpose and occurrence too."""
    return {**canonical_request(request), "purpose": request.purpose, "occurrence": request.occurrence}


def request_from_json(data: Mapping[str, Any]) -> Request:
    """Returns the request that `request_to_json` (or `canonical_request`) wrote.

    Raises:
        ValueError: a field is missing or has the wrong type.
    """
    try:
        messages = tuple(Message(role=_role(item["role"]), text=str(item["text"])) for item in data["messages"])
        temperature = data.get("temperature")
        return Request(
            messages=messages,
            purpose=str(data.get("purpose", "")),
            max_output_tokens=int(data["max_output_tokens"]),
            temperature=None if temperature is None else float(temperature),
            seed=_optional_int(data.get("seed")),
            occurrence=_optional_int(data.get("occurrence")),
            reasoning_effort=_optional_text(data.get("reasoning_effort")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"a stored request lacks or misspells {error}; expected messages, max_output_tokens"
        ) from error


def completion_to_json(completion: Completion) -> dict[str, Any]:
    """Returns the completion as JSON."""
    return asdict(completion)


def completion_from_json(data: Mapping[str, Any]) -> Completion:
    """Returns the completion that `completion_to_json` wrote.

    Raises:
        ValueError: a field is missing or has the wrong type, or the outcome is none of the known ones.
    """
    try:
        usage = data.get("usage") or {}
        return Completion(
            text=str(data["text"]),
            outcome=outcome_named(data["outcome"]),
            model=str(data["model"]),
            usage=Usage(
                input_tokens=int(usage.get("input_tokens", 0)),
                output_tokens=int(usage.get("output_tokens", 0)),
                estimated=bool(usage.get("estimated", False)),
            ),
            latency_s=float(data.get("latency_s", 0.0)),
            metadata=dict(data.get("metadata") or {}),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a stored completion lacks or misspells {error}; expected text, outcome, model") from error


def outcome_named(name: object) -> Outcome:
    """Returns `name` as an outcome.

    Raises:
        ValueError: it is none.
    """
    if name not in OUTCOMES:
        raise ValueError(f"outcome {name!r} is none of {', '.join(OUTCOMES)}")
    return name


def _role(name: object) -> Role:
    if name not in ROLES:
        raise ValueError(f"role {name!r} is none of {', '.join(ROLES)}")
    return name


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _optional_int(value: Any) -> int | None:
    return None if value is None else int(value)
