"""A program of the user's own and its lines: everything has a deadline, and nothing of it outlives us."""

import atexit
import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cwm.sandbox.parent.child import StartedChild

MOST_LINE: Final = 1 << 20
"""Bytes of one line, or of all that is written unasked."""
KEPT_ERRORS: Final = 4096
"""Bytes of stderr, the last ones."""
CHUNK: Final = 1 << 16
TICK_S: Final = 0.2
"""How often it is checked whether the program lives, in case a child of it holds its output open."""
GRACE_S: Final = 1.0
"""Seconds from the end of its input until a program is killed."""

_WATCH: Final = """
groups=
while read -r word number; do
  if [ "$word" = begun ]; then groups="$groups $number"; continue; fi
  rest=
  for group in $groups; do [ "$group" = "$number" ] || rest="$rest $group"; done
  groups=$rest
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""
"""Reads which process groups began and ended, and kills the rest when nobody is left to write: however we ended."""


class LateError(Exception):
    """The deadline passed; the message says how much of a line had come."""


class FloodError(Exception):
    """The program wrote more than is taken."""


class EndedError(Exception):
    """The program ended, or closed its input or output.

    Attributes:
        code: its exit code, negative for a signal; None if it still runs.
    """

    def __init__(self, code: int | None) -> None:
        super().__init__("it closed its input or output" if code is None else f"it ended with exit code {code}")
        self.code = code


class LineProcess:
    """A running program, with its input and output as lines of bytes."""

    def __init__(self, words: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        """Starts the program in a process group of its own.

        Args:
            words: the command.
            folder: where it is started.
            environment: its variables.

        Raises:
            OSError: it cannot be started.
        """
        self._process = subprocess.Popen(
            list(words),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
        _watch.say("begun", self._process.pid)
        self._child = StartedChild(self._process)
        assert self._process.stdin is not None
        self._input = self._process.stdin
        self._open = {self._child.stdout, self._child.stderr}
        self._lines = bytearray()
        self._errors = bytearray()
        for descriptor in (self._input.fileno(), *self._open):
            os.set_blocking(descriptor, False)

    def send(self, line: bytes, deadline: float) -> None:
        """Writes a line.

        Args:
            line: with its end.
            deadline: by `time.monotonic`.

        Raises:
            LateError: the program did not read it in time.
            EndedError: it reads no more.
            FloodError: meanwhile it wrote more than is taken.
        """
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._input.fileno(), rest) :]
            except BlockingIOError:
                self._wait(deadline, writing=True)
            except OSError:
                raise EndedError(self._code()) from None

    def receive(self, deadline: float) -> bytes:
        """Returns the next line without its end.

        Raises:
            LateError: none came in time.
            EndedError: none will come.
            FloodError: it is too long.
        """
        while (end := self._lines.find(b"\n")) < 0:
            if self._child.stdout not in self._open:
                raise EndedError(self._code())
            self._wait(deadline)
        line = bytes(self._lines[:end])
        del self._lines[: end + 1]
        return line

    def unread(self, wait_s: float = 0.0) -> bytes:
        """Returns what was written and not asked for, after waiting a little.

        Raises:
            FloodError: it is more than is taken.
        """
        deadline = time.monotonic() + wait_s
        with contextlib.suppress(LateError, EndedError):
            while self._child.stdout in self._open and not self._lines:
                self._wait(deadline)
        return bytes(self._lines)

    def last_words(self) -> str:
        """Returns the end of what it wrote to stderr, on one line; "" if it wrote nothing."""
        text = self._errors.decode("utf-8", "replace")
        lines = ["".join(c if c.isprintable() else " " for c in line).strip() for line in text.splitlines()]
        return " / ".join([line for line in lines if line][-3:])

    def end(self) -> int | None:
        """Closes its input, waits a little, and kills what is left of its process group.

        Returns:
            The exit code of its own accord, None if it had to be killed.
        """
        code = None
        try:
            with contextlib.suppress(OSError):
                self._input.close()
            code = self._left_alone(time.monotonic() + GRACE_S)
        finally:
            self._child.kill()
            self._child.collect(wait=True)
            self._child.close()
            _watch.say("ended", self._process.pid)
        return code

    def _left_alone(self, deadline: float) -> int | None:
        while time.monotonic() < deadline:
            if self._child.collect(wait=False):
                return self._child.returncode
            # What it still writes must not keep it from ending.
            self._lines.clear()
            with contextlib.suppress(LateError, EndedError, FloodError):
                self._wait(min(deadline, time.monotonic() + 0.01), tick=False)
        return None

    def _wait(self, deadline: float, writing: bool = False, tick: bool = True) -> None:
        """Waits for output, or for room to write, and takes what there is."""
        left = deadline - time.monotonic()
        poll = select.poll()
        for descriptor in self._open:
            poll.register(descriptor, select.POLLIN)
        if writing:
            poll.register(self._input.fileno(), select.POLLOUT)
        ready = [descriptor for descriptor, _ in poll.poll(1000 * max(0.0, min(left, TICK_S)))]
        for descriptor in self._open.intersection(ready):
            self._read(descriptor)
        if ready:
            return
        if tick and self._child.collect(wait=False):
            # A child of it may hold its output open; it will answer nothing.
            raise EndedError(self._child.returncode)
        if left <= TICK_S:
            begun = f"; {len(self._lines)} bytes came without the end of a line" if self._lines else ""
            raise LateError(begun)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._open.discard(descriptor)
        elif descriptor == self._child.stderr:
            self._errors += data
            del self._errors[:-KEPT_ERRORS]
        else:
            self._lines += data
            if len(self._lines) > MOST_LINE:
                raise FloodError

    def _code(self) -> int | None:
        """Returns the exit code of a program that closed its output, once it has ended; its last words are read."""
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline and (not self._child.collect(wait=False) or self._child.stderr in self._open):
            # Without anything open this sleeps.
            with contextlib.suppress(LateError, FloodError):
                self._wait(time.monotonic() + 0.01, tick=False)
        return self._child.returncode


class _Watch:
    """The shell that ends what is left of our programs when this process is gone, by whatever signal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shell: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def say(self, word: str, number: int) -> None:
        """Tells of a process group that `begun` or `ended`."""
        with self._lock, contextlib.suppress(OSError):
            if self._pid != os.getpid():
                self._begin()
            if self._shell is not None and self._shell.stdin is not None:
                self._shell.stdin.write(f"{word} {number}\n".encode("ascii"))

    def _begin(self) -> None:
        self._pid, self._shell = os.getpid(), None
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path("/"),
            env={},
            start_new_session=True,
            bufsize=0,
        )
        atexit.register(self._close, self._shell)

    def _close(self, shell: "subprocess.Popen[bytes]") -> None:
        if self._pid == os.getpid():
            shell.communicate()


_watch = _Watch()
