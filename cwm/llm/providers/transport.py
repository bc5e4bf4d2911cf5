"""Between a provider and its client library: deadlines over whole calls, idle clients, and text fit for the wire."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """A client that holds connections."""

    def close(self) -> None:
        """Closes the connections."""
        ...


T = TypeVar("T")
ClientT = TypeVar("ClientT", bound=Closable)


class DeadlinePassedError(Exception):
    """The call took longer than it may."""


class Clients(Generic[ClientT]):
    """Clients of one service, each used by one call at a time, so that closing one disturbs no other call."""

    def __init__(self, make: Callable[[], ClientT]) -> None:
        self._make = make
        self._idle: list[ClientT] = []
        self._lock = threading.Lock()

    def call(self, use: Callable[[ClientT], T], seconds: float) -> T:
        """Returns `use(client)`; a client whose call failed is closed, never used again.

        Client libraries limit the wait for each read, so a server that drips a byte now and then would hold a call
        for ever. Here the whole call has a limit.

        Raises:
            DeadlinePassedError: the call took longer than `seconds`.
            Exception: whatever `use` raised.
        """
        with self._lock:
            client = self._idle.pop() if self._idle else None
        if client is None:
            client = self._make()
        try:
            result = _within(lambda: use(client), seconds)
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


def _within(call: Callable[[], T], seconds: float) -> T:
    results: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            results.put((call(), None))
        except BaseException as error:
            results.put((None, error))

    threading.Thread(target=run, name="language-model-call", daemon=True).start()
    try:
        result, error = results.get(timeout=seconds)
    except Empty:
        raise DeadlinePassedError from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def wire_text(text: str) -> str:
    """Returns `text` with lone surrogates, which UTF-8 cannot carry, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
