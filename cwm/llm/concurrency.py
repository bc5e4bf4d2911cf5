"""How many calls are under way at once: one more for each round that goes well, half as many when the server slows us.

Every attempt counts, so the limit sits between the retry layer and the provider: a call that waits for its next
attempt holds no place.
"""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue

from cwm.llm.api import Completion, LanguageModel, LanguageModelError, Request
from cwm.llm.retry import OutOfTimeError, TransientError, left_s

MOST_AT_ONCE = 8


class AdaptiveLimit:
    """A number of places that grows by one a round of good answers and is halved by a refusal. Thread-safe.

    A refusal counts once for all the calls that were under way when the limit was last halved: they were sent at the
    old rate.
    """

    def __init__(self, *, start: float = 2.0, most: int = MOST_AT_ONCE) -> None:
        """Sets the first limit.

        Args:
            start: places at first, from 1.
            most: places at most.

        Raises:
            ValueError: not 1 <= start <= most.
        """
        if not 1 <= start <= most:
            raise ValueError(f"the limit starts at {start:g} of at most {most}: give 1 <= start <= most")
        self._limit = float(start)
        self._most = most
        self._under_way = 0
        self._halvings = 0
        self._free = threading.Condition()

    @property
    def limit(self) -> float:
        """Returns the limit; its whole part is the number of places."""
        with self._free:
            return self._limit

    @contextmanager
    def place(self, seconds: float = math.inf) -> Iterator[int]:
        """Waits for a place and holds it; yields how often the limit had been halved, for `refused`.

        Args:
            seconds: waited at most.

        Raises:
            OutOfTimeError: no place fell free in that time.
        """
        with self._free:
            there = self._free.wait_for(
                lambda: self._under_way < int(self._limit), None if math.isinf(seconds) else max(0.0, seconds)
            )
            if not there:
                raise OutOfTimeError("The cap on time is reached while other calls are under way: raise it and resume.")
            self._under_way += 1
            halvings = self._halvings
        try:
            yield halvings
        finally:
            with self._free:
                self._under_way -= 1
                self._free.notify_all()

    def answered(self) -> None:
        """Counts a good answer: a whole round of them adds one place."""
        with self._free:
            self._limit = min(float(self._most), self._limit + 1.0 / self._limit)
            self._free.notify_all()

    def refused(self, halvings: int) -> None:
        """Halves the limit, unless that was done since the refused call was sent.

        Args:
            halvings: what `place` yielded to that call.
        """
        with self._free:
            if halvings == self._halvings:
                self._limit = max(1.0, self._limit / 2.0)
                self._halvings += 1


class Throttled:
    """A provider with so many attempts under way at once as its limit allows."""

    def __init__(self, model: LanguageModel, limit: AdaptiveLimit | None = None) -> None:
        """Wraps `model`; put `Retrying` outside.

        Args:
            model: a provider whose refusals for too many calls are `TransientError` of kind `rate_limit`.
            limit: shared by all models of one account; None for one of its own.
        """
        self._model = model
        self._limit = limit or AdaptiveLimit()

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers the request when there is a place for it.

        Raises:
            OutOfTimeError: the run's time is up before there is a place.
            LanguageModelError: the attempt failed.
        """
        with self._limit.place(left_s(request)) as halvings:
            try:
                completion = self._model.complete(request)
            except TransientError as error:
                if error.kind == "rate_limit":
                    self._limit.refused(halvings)
                raise
            self._limit.answered()
            return completion


class SideBySide:
    """A model that may be asked several independent questions at once; who asks decides which are independent."""

    def __init__(self, model: LanguageModel, at_once: int) -> None:
        """Wraps `model`; put it outside of all other layers.

        Args:
            model: thread-safe.
            at_once: questions under way, at most.
        """
        self._model = model
        self.at_once = at_once

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers one request.

        Raises:
            LanguageModelError: the call failed.
        """
        return self._model.complete(request)


def answers_of(
    model: LanguageModel, requests: Sequence[Request], at_once: int
) -> list[Completion | LanguageModelError]:
    """Asks several questions at once and returns the answers, or what failed, in the order of the questions.

    Nobody waits for those under way where the process is interrupted.

    Args:
        model: thread-safe.
        requests: independent of each other.
        at_once: threads, at most.

    Raises:
        Exception: whatever the model raised that is no `LanguageModelError`.
    """
    source = iter(enumerate(requests))
    results: SimpleQueue[tuple[int, Completion | BaseException]] = SimpleQueue()

    def serve(place: int, request: Request) -> None:
        try:
            results.put((place, model.complete(request)))
        except BaseException as error:  # handed to the thread that waits for the answer, whatever it is
            results.put((place, error))

    found: dict[int, Completion | LanguageModelError] = {}
    running = 0
    while len(found) < len(requests):
        while running < at_once and (job := next(source, None)) is not None:
            threading.Thread(target=serve, args=job, name="language-model-question", daemon=True).start()
            running += 1
        place, result = results.get()
        running -= 1
        if isinstance(result, BaseException) and not isinstance(result, LanguageModelError):
            raise result
        found[place] = result
    return [found[place] for place in range(len(requests))]
