"""Between a provider and its client library: deadlines over whole calls, idle clients, and text fit for the wire."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, Generic, Protocol, TypeVar

from cwm.llm.api import Request
from cwm.llm.line import LONG_ANSWER
from cwm.llm.providers.wishes import Wishes
from cwm.llm.retry import left_s

_LONGEST_WAIT_S: Final = 3600.0
"""A lock of the system cannot wait for as long as a user may wish."""


class Closable(Protocol):
    """A client that holds connections."""

    def close(self) -> None:
        """Closes the connections."""
        ...


T = TypeVar("T")
ClientT = TypeVar("ClientT", bound=Closable)


class DeadlinePassedError(Exception):
    """The call took longer than it may.

    Attributes:
        seconds: the limit that it passed.
        silent: whether nothing came for so long, where the answer comes in pieces.
    """

    def __init__(self, seconds: float, silent: bool) -> None:
        super().__init__(seconds, silent)
        self.seconds = seconds
        self.silent = silent


@dataclass(frozen=True)
class Patience:
    """How long one attempt may take.

    Attributes:
        whole_s: seconds until the whole answer is there.
        piece_s: seconds between two of its pieces, None for an answer that comes in one.
    """

    whole_s: float
    piece_s: float | None = None


class Pulse:
    """When the last piece of an answer came. Thread-safe."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def beat(self) -> None:
        """Notes that a piece came."""
        self._last = time.monotonic()

    def quiet_s(self) -> float:
        """Returns the seconds since the last piece, or since the call began."""
        return time.monotonic() - self._last


def patience(wishes: Wishes, request: Request) -> Patience:
    """Returns how long an attempt at a request may take: as the user says, and never past the run's own time."""
    piece_s = wishes.timeout_s if streams(wishes, request) else None
    whole_s = wishes.answer_s or (math.inf if piece_s is not None else wishes.timeout_s)
    return Patience(max(0.0, min(whole_s, left_s(request))), piece_s)


def streams(wishes: Wishes, request: Request) -> bool:
    """Returns whether the answer to a request is taken in pieces."""
    return request.max_output_tokens > LONG_ANSWER if wishes.stream is None else wishes.stream


class Clients(Generic[ClientT]):
    """Clients of one service, each used by one call at a time, so that closing one disturbs no other call."""

    def __init__(self, make: Callable[[], ClientT]) -> None:
        self._make = make
        self._idle: list[ClientT] = []
        self._lock = threading.Lock()

    def call(self, use: Callable[[ClientT, Pulse], T], patience: Patience) -> T:
        """Returns `use(client, pulse)`; a client whose call failed is closed, never used again.

        Client libraries limit the wait for each read, so a server that drips a byte now and then would hold a call
        for ever. Here the whole call has a limit.

        Raises:
            DeadlinePassedError: the call took longer than it may.
            Exception: whatever `use` raised.
        """
        with self._lock:
            client = self._idle.pop() if self._idle else None
        if client is None:
            client = self._make()
        try:
            result = _within(lambda pulse: use(client, pulse), patience)
        except BaseException:
            client.close()
            raise
        with self._lock:
            self._idle.append(client)
        return result

    def close(self) -> None:
        """Closes the idle clients."""
        with self._lock:
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()


def _within(call: Callable[[Pulse], T], patience: Patience) -> T:
    results: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    pulse = Pulse()
    begun = time.monotonic()

    def run() -> None:
        try:
            results.put((call(pulse), None))
        except BaseException as error:
            results.put((None, error))

    threading.Thread(target=run, name="language-model-call", daemon=True).start()
    while True:
        whole_s = patience.whole_s - (time.monotonic() - begun)
        piece_s = math.inf if patience.piece_s is None else patience.piece_s - pulse.quiet_s()
        if whole_s <= 0:
            raise DeadlinePassedError(patience.whole_s, silent=False)
        if patience.piece_s is not None and piece_s <= 0:
            raise DeadlinePassedError(patience.piece_s, silent=True)
        try:
            result, error = results.get(timeout=min(whole_s, piece_s, _LONGEST_WAIT_S))
        except Empty:
            continue
        if error is not None:
            raise error
        return result  # type: ignore[return-value]


def wire_text(text: str) -> str:
    """Returns `text` with lone surrogates, which UTF-8 cannot carry, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
