"""The one retry layer: which failures are asked again, how long to wait, and when to stop."""

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cwm.llm.api import (
    AnswerTimeoutError,
    BudgetExceededError,
    Completion,
    ConfigurationError,
    LanguageModel,
    LanguageModelError,
    Request,
)
from cwm.llm.line import silent

FailureKind: TypeAlias = Literal["rate_limit", "server", "timeout", "connection", "unreachable", "bad_answer"]

_ROUNDING_S = 0.01
"""A wait until a moment may end so much before it."""

LOST = "lost_attempts"
"""Key of a completion's metadata: attempts before it that may have been billed."""


class TransientError(LanguageModelError):
    """One attempt failed in a way that another attempt may not.

    Attributes:
        kind: what went wrong; `unreachable` is a server to which no connection could be made at all.
        retry_after_s: seconds that the server asked us to wait, None where it did not say.
        maybe_billed: the request was sent and may have been answered, so that it may be on the bill.
    """

    def __init__(
        self, message: str, kind: FailureKind, *, retry_after_s: float | None = None, maybe_billed: bool = False
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s
        self.maybe_billed = maybe_billed


class GaveUpError(LanguageModelError):
    """Every attempt failed; `lost` of them may have been billed."""

    def __init__(self, message: str, lost: int) -> None:
        super().__init__(message)
        self.lost = lost


class OutOfTimeError(BudgetExceededError):
    """The run's time is up, or would be before another attempt; `lost` attempts may have been billed."""

    def __init__(self, message: str, lost: int = 0) -> None:
        super().__init__(message)
        self.lost = lost


class GaveUpWaitingError(GaveUpError, AnswerTimeoutError):
    """The last attempt ran into the time limit."""


def left_s(request: Request, clock: Callable[[], float] = time.monotonic) -> float:
    """Returns the seconds until the run's time is up, infinity if it never is."""
    return math.inf if request.deadline is None else request.deadline - clock()


def lost_calls(result: Completion | LanguageModelError) -> int:
    """Returns how many attempts may have been billed without giving an answer."""
    if isinstance(result, Completion):
        return int(result.metadata.get(LOST, 0))
    if isinstance(result, TransientError):
        return int(result.maybe_billed)
    return int(getattr(result, "lost", 0))


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long to try.

    Attributes:
        attempts: calls in all, the first one included.
        timeout_attempts: calls in all when they run into the time limit, since each may be billed.
        unreachable_attempts: calls in all while the server has never answered, since the address may be wrong.
        first_wait_s: seconds before the second attempt, doubled for each further one.
        longest_wait_s: cap of that doubling, in seconds.
        longest_retry_after_s: a server that asks for a longer wait than this ends the call.
        jitter: share of each wait that is drawn at random, from 0 (none) to 1.
    """

    attempts: int = 6
    timeout_attempts: int = 3
    unreachable_attempts: int = 3
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    longest_retry_after_s: float = 300.0
    jitter: float = 0.5

    def wait_s(self, failures: int, retry_after_s: float | None, draw: float) -> float:
        """Returns the seconds to wait after the `failures`-th failure in a row (1, 2, ...).

        Args:
            failures: how many attempts of this call have failed.
            retry_after_s: what the server asked for, or None; the wait is never shorter.
            draw: a number in [0, 1) that places the wait within its jitter.
        """
        backoff = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (failures - 1))
        wait = backoff * (1.0 - self.jitter + self.jitter * draw)
        return wait if retry_after_s is None else max(wait, retry_after_s)

    def limit(self, kind: FailureKind, answered_before: bool) -> int:
        """Returns how many attempts a failure of this kind allows in all."""
        if kind == "timeout":
            return min(self.attempts, self.timeout_attempts)
        if kind == "unreachable" and not answered_before:
            return min(self.attempts, self.unreachable_attempts)
        return self.attempts


class Retrying:
    """Asks the wrapped provider again after transient failures, and after no other."""

    def __init__(
        self,
        model: LanguageModel,
        policy: RetryPolicy | None = None,
        *,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
        tell: Callable[[str], None] = silent,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wraps `model`.

        Args:
            model: a provider whose transient failures are `TransientError`.
            policy: attempts and waits, None for the default ones.
            seed: of the jitter.
            sleep: waits that many seconds; injected by tests.
            tell: told in one line of every wait: what happened, how long, which attempt.
            clock: seconds, as in `Request.deadline`; injected by tests.
        """
        self._model = model
        self._policy = policy or RetryPolicy()
        self._tell = tell
        self._clock = clock
        self._rng = random.Random(seed)
        self._sleep = sleep
        self._lock = threading.Lock()
        self._answered = False

    @property
    def name(self) -> str:
        """Returns the wrapped model's name."""
        return self._model.name

    def complete(self, request: Request) -> Completion:
        """Answers the request; `metadata` counts the attempts and those that may have been billed for nothing.

        Raises:
            GaveUpError: no attempt was answered.
            OutOfTimeError: the run's time is up, or would be before the next attempt.
            ConfigurationError: no connection could be made to a server that has never answered.
            LanguageModelError: the provider says that asking again cannot help.
        """
        lost = 0
        failures = 0
        while True:
            failure: TransientError
            try:
                completion = self._model.complete(request)
            except TransientError as error:
                failure = error
            except LanguageModelError as error:
                vars(error)["lost"] = lost_calls(error) + lost
                raise
            else:
                self._answered = True
                return _counted(completion, failures + 1, lost)
            failures += 1
            lost += failure.maybe_billed
            self._stop_if_out_of_time(request, failure, lost, 0.0)
            self._stop_if_hopeless(failure, failures, lost)
            with self._lock:
                draw = self._rng.random()
            wait = self._policy.wait_s(failures, failure.retry_after_s, draw)
            self._stop_if_out_of_time(request, failure, lost, wait)
            most = self._policy.limit(failure.kind, self._answered)
            what = str(failure).rstrip(".")
            self._tell(f"{what}: waiting {_seconds(wait)}, then attempt {failures + 1} of {most}")
            self._sleep(wait)

    def _stop_if_out_of_time(self, request: Request, failure: TransientError, lost: int, wait: float) -> None:
        left = left_s(request, self._clock)
        if left <= _ROUNDING_S:
            raise OutOfTimeError(f"{failure} The cap on time is reached: raise it and resume.", lost)
        if wait >= left:
            raise OutOfTimeError(
                f"{failure} The cap on time leaves {_seconds(left)}, and the next attempt would come in "
                f"{_seconds(wait)}: raise the cap and resume.",
                lost,
            )

    def _stop_if_hopeless(self, failure: TransientError, failures: int, lost: int) -> None:
        answered = self._answered or failure.kind != "unreachable"
        self._answered = answered
        asked_s = failure.retry_after_s or 0.0
        if asked_s > self._policy.longest_retry_after_s:
            raise GaveUpError(
                f"{failure} It asks to wait {asked_s:.0f} s, longer than the "
                f"{self._policy.longest_retry_after_s:.0f} s that are waited at most: go on later.",
                lost,
            )
        if failures < self._policy.limit(failure.kind, answered):
            return
        if failure.kind == "unreachable" and not answered:
            raise ConfigurationError(str(failure))
        error = GaveUpWaitingError if failure.kind == "timeout" else GaveUpError
        raise error(f"{failure} Given up after {failures} attempts: go on later.", lost)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _counted(completion: Completion, attempts: int, lost: int) -> Completion:
    if attempts == 1:
        return completion
    return replace(completion, metadata={**completion.metadata, "attempts": attempts, LOST: lost})
