"""Bounded record of what a program prints. Loaded into workers: standard library alone."""

import io
import os
from collections import deque
from collections.abc import Callable
from typing import Any

MAX_LINE = 4000
PASS_THROUGH = 256 * 1024
"""So many bytes of a request's output also go to the parent at once, for the case that the worker dies."""


class TailWriter(io.TextIOBase):
    """Stands in for stdout and stderr and keeps the last part of what was written."""

    def __init__(self, limit: int, descriptor: int, write: Callable[[int, bytes], int] = os.write) -> None:
        """Args:
        limit: characters kept.
        descriptor: where the first `PASS_THROUGH` bytes of each request go too.
        write: `os.write`, taken before any program could replace it.
        """
        self._limit = limit
        self._descriptor = descriptor
        self._write = write
        self._parts: deque[str | tuple[str, Any]] = deque(maxlen=1000)
        self._size = 0
        self._passed = 0

    def begin(self) -> None:
        """Forgets everything: a new request begins."""
        self._parts.clear()
        self._size = 0
        self._passed = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        kept = text[-self._limit :]
        if len(self._parts) == self._parts.maxlen:
            self._drop()
        self._parts.append(kept)
        self._size += len(kept)
        while self._size - self._leading() >= self._limit:
            self._drop()
        self._pass_through(kept)
        return len(text)

    def note(self, label: str, value: Any) -> None:
        """Adds a line `label value`, formatted only if it is ever shown."""
        if len(self._parts) == self._parts.maxlen:
            self._drop()
        self._parts.append((label, value))

    def tail(self) -> str:
        """Returns what is kept, at most `limit` characters of it."""
        return self._text()[-self._limit :]

    def last_lines(self, count: int) -> list[str]:
        """Returns the last `count` lines; of a very long line only its beginning, and how long it is."""
        lines = self._text().rstrip("\n").split("\n")[-count:]
        return [
            line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} … ({len(line)} characters)" for line in lines if line
        ]

    def _text(self) -> str:
        return "".join(part if isinstance(part, str) else f"{part[0]}{part[1]!r}\n" for part in self._parts)

    def _leading(self) -> int:
        part = self._parts[0]
        return len(part) if isinstance(part, str) else 0

    def _drop(self) -> None:
        part = self._parts.popleft()
        if isinstance(part, str):
            self._size -= len(part)

    def _pass_through(self, text: str) -> None:
        if self._passed >= PASS_THROUGH:
            return
        data = text.encode("utf-8", "replace")
        self._passed += len(data)
        try:
            self._write(self._descriptor, data)
        except OSError:
            self._passed = PASS_THROUGH
