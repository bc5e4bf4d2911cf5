"""The way to a language model: limits of time, pieces, headers, how many calls at once; and how it is to think."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from cwm.llm.api import Completion, ConfigurationError, LanguageModel, Request

LONG_ANSWER: Final = 4096
"""Answers that may have more tokens than this are taken piece by piece, unless the user says otherwise."""
ANSWER_S: Final = 600.0
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Secret:
    """A key that shows in no repr, traceback of locals or JSON: only `reveal` gives it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Returns the key itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is never pickled or copied to another process")


def silent(line: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class Line:
    """How servers are asked; none of it is stored with a run.

    Attributes:
        timeout_s: seconds for one answer; of an answer that comes in pieces, between two of them.
        stream: take answers in pieces; None for long ones alone.
        headers: further ones of every request, by name; their values are secrets.
        parallel: calls under way at once, at most; None for the default.
        tell: told in one line of every wait between attempts.
        base_url: address that is asked instead of the one that goes with the model's name, None for that one.
    """

    timeout_s: float = ANSWER_S
    stream: bool | None = None
    headers: tuple[tuple[str, Secret], ...] = field(default=(), compare=False)
    parallel: int | None = None
    tell: Callable[[str], None] = field(default=silent, compare=False, repr=False)
    base_url: str | None = None


class AskedWith:
    """A model whose every request has a temperature and an effort of the user's, where it has none of its own."""

    def __init__(self, model: LanguageModel, temperature: float | None, reasoning_effort: str | None) -> None:
        """Wraps `model`; put it outside of `Journaled`, so that they are part of the key.

        Args:
            model: whom to ask.
            temperature: None for that of the request.
            reasoning_effort: None for that of the request.
        """
        self._model = model
        self._temperature = temperature
        self._effort = reasoning_effort

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers the request.

        Raises:
            LanguageModelError: the call failed.
        """
        temperature = self._temperature if request.temperature is None else request.temperature
        effort = request.reasoning_effort or self._effort
        return self._model.complete(replace(request, temperature=temperature, reasoning_effort=effort))


def effort_of(word: str) -> str:
    """Returns a word for the effort of thinking.

    Raises:
        ConfigurationError: it is no word.
    """
    if not re.fullmatch(r"[a-z]{1,20}", word):
        raise ConfigurationError(
            f"The reasoning effort {word[:40]!r} is no word of small letters: give one that the provider knows, e.g. "
            "low, medium or high."
        )
    return word


def headers_of(given: Iterable[str]) -> tuple[tuple[str, Secret], ...]:
    """Returns headers that were given as `NAME=VALUE`.

    Raises:
        ConfigurationError: one is no header; its value is not named.
    """
    headers = []
    for number, text in enumerate(given, start=1):
        name, mark, value = text.partition("=")
        if not mark or not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"Header {number} is no NAME=VALUE with a name of letters, digits and hyphens: write e.g. "
                "X-Team=chess (what was given is not shown, since it may hold a secret)."
            )
        if not (value.isascii() and value.isprintable()):
            raise ConfigurationError(f"The value of the header {name} is no printable ASCII text: correct it.")
        headers.append((name, Secret(value)))
    return tuple(headers)
