"""Further chances, with more room, for an answer that was cut off."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from cwm.llm.api import BudgetExceededError, Completion, LanguageModel, LanguageModelError, Message, Request
from cwm.llm.concurrency import SideBySide, answers_of


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

    def each(self, text: str, number: int) -> Iterator[Completion]:
        """Yields the answers to one question that is asked so many times, whole if more room makes them so.

        A model that may be asked at once (`SideBySide`) is asked for all of them before the first is yielded. Which
        answer comes in which place does not depend on how many are asked at once. Where a cap is reached, those that
        were answered behind it are in the journal and served to the resumed run.

        Raises:
            LanguageModelError: a call failed; the answers before it were yielded.
        """
        if not isinstance(self._model, SideBySide):
            for _ in range(number):
                yield self.ask(text)
            return
        for answer in self._at_once(text, number, self._model):
            if isinstance(answer, LanguageModelError):
                raise answer
            yield answer

    def _at_once(self, text: str, number: int, model: SideBySide) -> list[Completion | LanguageModelError]:
        settings, room = self._settings, self._settings.max_output_tokens
        found: dict[int, Completion | LanguageModelError] = {}
        places = list(range(number))
        for _ in range(1 + settings.max_truncated_retries):
            request = Request((Message("user", text),), self._purpose, room, temperature=settings.temperature)
            # Numbered as they would be one after the other: each has the key and the place that it would have then.
            requests = [replace(request, occurrence=occurrence) for occurrence in range(len(places))]
            answers = answers_of(model, requests, model.at_once)
            for index, answer in enumerate(answers):
                if isinstance(answer, BudgetExceededError):
                    # What was set aside for the others may have kept it out; nothing was sent.
                    (answers[index],) = answers_of(model, [requests[index]], 1)
                    if isinstance(answers[index], LanguageModelError):
                        break
            found |= dict(zip(places, answers, strict=True))
            self._completions += [answer for answer in answers if isinstance(answer, Completion)]
            places = [place for place, answer in zip(places, answers, strict=True) if _is_cut(answer)]
            if not places:
                break
            room = int(room * settings.truncated_growth)
        return [found[place] for place in range(number)]

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


def _is_cut(answer: Completion | LanguageModelError) -> bool:
    return isinstance(answer, Completion) and answer.outcome == "truncated"
