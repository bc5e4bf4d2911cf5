"""Further chances, with more room, for an answer that was cut off."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from cwm.llm.api import Completion, LanguageModel, Message, Request


class AnswerSettings(Protocol):
    """The settings of a synthesis that say how its questions are put."""

    @property
    def max_output_tokens(self) -> int:
        """Cap of the first answer, reasoning included."""
        ...

    @property
    def max_truncated_retries(self) -> int:
        """A truncated answer is asked for again at most so often."""
        ...

    @property
    def truncated_growth(self) -> float:
        """How much larger the cap is each time, as a factor."""
        ...

    @property
    def temperature(self) -> float | None:
        """Sampling temperature, None for the provider's default."""
        ...


def complete_whole(
    ask: Callable[[Request], Completion], messages: tuple[Message, ...], purpose: str, settings: AnswerSettings
) -> Completion:
    """Asks, and asks again with a larger cap while the answer is truncated.

    Args:
        ask: makes one call; it sees each request and each answer, so that a caller can count them.
        messages: the conversation so far.
        purpose: of the calls.
        settings: the first cap, how often it grows and by how much.

    Returns:
        The last answer, to be used if its outcome is `ok`. A truncated one must never be.

    Raises:
        LanguageModelError: a call failed.
    """
    request = Request(messages, purpose, settings.max_output_tokens, temperature=settings.temperature)
    completion = ask(request)
    for _ in range(settings.max_truncated_retries):
        if completion.outcome != "truncated":
            break
        larger = int(request.max_output_tokens * settings.truncated_growth)
        request = replace(request, max_output_tokens=larger)
        completion = ask(request)
    return completion


class CountedQuestions:
    """Puts questions of one message each to a model, and counts the calls and tokens that they take.

    Args:
        model: whom to ask.
        purpose: of the calls.
        settings: see `complete_whole`.
    """

    def __init__(self, model: LanguageModel, purpose: str, settings: AnswerSettings) -> None:
        self._model = model
        self._purpose = purpose
        self._settings = settings
        self._completions: list[Completion] = []

    def ask(self, text: str) -> Completion:
        """Returns the answer to one question, whole if more room makes it so.

        Raises:
            LanguageModelError: a call failed; those before it are counted.
        """
        return complete_whole(self._call, (Message("user", text),), self._purpose, self._settings)

    def totals(self) -> dict[str, int]:
        """Returns `calls` (answers received), `input_tokens` and `output_tokens`."""
        usages = [completion.usage for completion in self._completions]
        return {
            "calls": len(usages),
            "input_tokens": sum(usage.input_tokens for usage in usages),
            "output_tokens": sum(usage.output_tokens for usage in usages),
        }

    def _call(self, request: Request) -> Completion:
        self._completions.append(self._model.complete(request))
        return self._completions[-1]
