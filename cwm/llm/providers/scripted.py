"""A model whose answers are written down beforehand, so that a whole run can be tested without a provider."""

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from cwm.llm.api import Completion, ConfigurationError, LanguageModelError, Outcome, Request
from cwm.llm.providers.wishes import Wishes
from cwm.llm.requests import outcome_named
from cwm.llm.tokens import estimate_usage

Answer: TypeAlias = str | Completion | LanguageModelError
Answers: TypeAlias = Sequence[Answer] | Callable[[Request], Answer]


class Scripted:
    """Gives the answers of a list in order, or what a function makes of each request.

    A string is a good answer (an empty one counts as `empty`), a `Completion` is given as it is, and an error is
    raised. `requests` holds what was asked, in order.
    """

    def __init__(self, answers: Answers, *, name: str = "scripted:list", start: int = 0) -> None:
        """Prepares the answers.

        Args:
            answers: a list, or a function of the request (which then must be thread-safe).
            name: the model's name.
            start: how many answers of the list an earlier process used up.
        """
        self._answers = answers
        self._name = name
        self._next = start
        self._lock = threading.Lock()
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """Returns the name that was given."""
        return self._name

    def complete(self, request: Request) -> Completion:
        """Gives the next answer.

        Raises:
            LanguageModelError: the list is at its end, or the answer is an error.
        """
        with self._lock:
            self.requests.append(request)
            position = self._next
            self._next += 1
        if callable(self._answers):
            answer = self._answers(request)
        elif position < len(self._answers):
            answer = self._answers[position]
        else:
            raise LanguageModelError(
                f"{self._name} has {len(self._answers)} answers and call {position + 1} "
                f"(purpose {request.purpose!r}) wants one more: add it to the script."
            )
        if isinstance(answer, LanguageModelError):
            raise answer
        return answer if isinstance(answer, Completion) else _completed(request, answer, self._name)


def load_script(path: Path) -> list[Answer]:
    """Reads a script: JSON lines, each a string or an object with `text` and, as needed, `outcome` and `model`.

    Raises:
        ConfigurationError: the file cannot be read, or a line is not such JSON.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The script {path} cannot be read ({error}): give a file of JSON lines.") from None
    answers: list[Answer] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            answers.append(_answer(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"Line {number} of {path} is no answer ({error}): write a JSON string or an object with text."
            ) from None
    return answers


def opened(file: str, wishes: Wishes) -> Scripted:
    """Returns the model of a script, which goes on where an earlier process stopped."""
    return Scripted(load_script(Path(file)), name=f"scripted:{file}", start=wishes.start)


def _answer(data: object) -> Answer:
    if isinstance(data, str):
        return data
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise ValueError("neither a string nor an object with a text")
    outcome = outcome_named(data.get("outcome", "ok"))
    return Completion(text=data["text"], outcome=outcome, model=str(data.get("model", "scripted")))


def _completed(request: Request, text: str, name: str) -> Completion:
    outcome: Outcome = "ok" if text.strip() else "empty"
    return Completion(text=text, outcome=outcome, model=name, usage=estimate_usage(request, text))
