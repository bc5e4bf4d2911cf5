"""The parent's end of the pipes to one worker: frames with deadlines, bounded drains, and what a death means."""

import contextlib
import os
import select
import struct
import time

from cwm.sandbox.parent.child import Child

HEADER = struct.Struct(">I")
MOST_STARVED = 9.0
TICK_S = 0.2
"""How often it is checked whether the worker still lives, in case a grandchild holds its descriptors open."""
CHUNK = 1 << 18
QUIET_S = 0.02
"""A dump of frames is over when nothing was written for so long."""
MAX_DRAINS = 64
"""A program that floods its output must not keep the parent reading for ever."""


class ChannelError(Exception):
    """No frame came."""


class DeadlineError(ChannelError):
    """The deadline passed."""


class ClosedError(ChannelError):
    """The worker ended, or closed its reply descriptor."""


class OversizeError(ChannelError):
    """A frame announced more bytes than are taken."""


class Channel:
    """Pipes to one child process.

    Attributes:
        excused_s: seconds by which deadlines were moved so far, since the worker had no processor.
    """

    def __init__(self, child: Child, request_fd: int, reply_fd: int, output_bytes: int) -> None:
        """Args:
        child: the process.
        request_fd: where requests are written.
        reply_fd: where replies are read.
        output_bytes: how much of the child's output is kept (the last).
        """
        self._child = child
        self._request_fd = request_fd
        self._reply_fd = reply_fd
        self._output_bytes = output_bytes
        self._incoming = bytearray()
        self._output = bytearray()
        self._printed = 0
        self._ended = False
        self.excused_s = 0.0
        self._drains = {child.stdout, child.stderr}
        self._poll = select.poll()
        for descriptor in (*self._drains, reply_fd):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        os.set_blocking(request_fd, False)

    def send(self, payload: bytes, deadline: float) -> None:
        """Writes one frame.

        Raises:
            DeadlineError: the worker did not take it in time.
            ClosedError: the worker is gone.
        """
        data = memoryview(HEADER.pack(len(payload)) + payload)
        with contextlib.suppress(BlockingIOError):
            data = data[self._write(data) :]
        if not data:
            return
        self._poll.register(self._request_fd, select.POLLOUT)
        try:
            while data:
                if self._request_fd in self._wait(deadline):
                    with contextlib.suppress(BlockingIOError):
                        data = data[self._write(data) :]
        finally:
            self._poll.unregister(self._request_fd)

    def receive(self, deadline: float, limit: int) -> bytes:
        """Returns the next frame.

        Time that the worker stood in line for a processor is not the program's: the deadline moves by as much, up to
        `MOST_STARVED` times the time that was allowed.

        Args:
            deadline: `time.monotonic()` seconds.
            limit: largest payload in bytes.

        Raises:
            DeadlineError: none came in time.
            ClosedError: the worker is gone.
            OversizeError: it is larger than `limit`.
        """
        entered = time.monotonic()
        starved_s: float | None = None
        excused_s = 0.0
        while True:
            if len(self._incoming) >= HEADER.size:
                (length,) = HEADER.unpack_from(self._incoming)
                if length > limit:
                    raise OversizeError(f"a reply of {length:,} bytes was announced; at most {limit:,} are taken")
                end = HEADER.size + length
                if len(self._incoming) >= end:
                    frame = bytes(self._incoming[HEADER.size : end])
                    del self._incoming[:end]
                    return frame
            if self._ended:
                raise ClosedError("the worker closed its reply descriptor")
            now = time.monotonic()
            if starved_s is None and now - entered >= TICK_S:
                # Not at once: most answers come sooner, and asking takes as long as a small one.
                starved_s = self._child.starved_s()
            if starved_s is not None and now >= deadline + excused_s:
                known_s = excused_s
                # Of a worker that has ended nothing is told any more.
                waited_s = max(known_s, self._child.starved_s() - starved_s)
                excused_s = min(waited_s, MOST_STARVED * max(0.0, deadline - entered))
                self.excused_s += excused_s - known_s
            self._wait(deadline + excused_s)

    def forget_output(self) -> None:
        """Drops what was printed before the next request."""
        self._drain_now()
        self._output.clear()

    def output(self, grace_s: float = 0.0) -> str:
        """Returns the last part of what was printed, waiting up to `grace_s` for more."""
        end = time.monotonic() + grace_s
        pause = grace_s
        with contextlib.suppress(ChannelError):
            # A dump is written in many small pieces: it is complete when nothing more follows for a while.
            while pause and self._drains:
                before = self._printed
                self._wait(min(end, time.monotonic() + pause))
                pause = QUIET_S if self._printed != before else 0.0
        self._drain_now()
        return self._output.decode("utf-8", "replace")

    @property
    def cpu_s(self) -> float:
        """CPU seconds that the worker used, once it has ended."""
        return self._child.cpu_s

    @property
    def lost(self) -> bool:
        """True if the worker ended with the process that forked it."""
        return self._child.lost

    def signal(self, number: int) -> None:
        """Sends a signal to the worker alone."""
        self._child.signal(number)

    def wait_for_end(self, seconds: float) -> int | None:
        """Returns the exit status (negative: signal) if the worker ends by itself within `seconds`, else None."""
        end = time.monotonic() + seconds
        while not self._child.collect(wait=False):
            if time.monotonic() > end:
                return None
            time.sleep(0.002)
        return self._child.returncode

    def destroy(self) -> None:
        """Kills the worker with all that it started, collects it and closes every descriptor."""
        self._child.kill()
        self._child.collect(wait=True)
        for descriptor in (self._request_fd, self._reply_fd):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._child.close()

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._request_fd, data)
        except BrokenPipeError as error:
            raise ClosedError("the worker closed its request descriptor") from error

    def _wait(self, deadline: float) -> set[int]:
        """Waits for any descriptor, reads what is there, and returns those that can be written."""
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise DeadlineError("the deadline passed")
        events = self._poll.poll(min(remaining, TICK_S) * 1000)
        if not events and self._child.collect(wait=False):
            self._read(self._reply_fd)
            self._ended = True
        writable = set()
        for descriptor, _ in events:
            if descriptor == self._request_fd:
                writable.add(descriptor)
            elif self._read(descriptor) < 0:
                self._drop(descriptor)
        return writable

    def _drop(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        self._drains.discard(descriptor)
        if descriptor == self._reply_fd:
            self._ended = True

    def _read(self, descriptor: int) -> int:
        """Reads what is there into the right buffer; returns how many bytes, -1 at the end of the stream."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return 0
        except OSError:
            return -1
        if descriptor == self._reply_fd:
            self._incoming += data
        else:
            self._printed += len(data)
            self._output += data
            del self._output[: -self._output_bytes]
        return len(data) or -1

    def _drain_now(self) -> None:
        for descriptor in list(self._drains):
            count = 1
            for _ in range(MAX_DRAINS):
                count = self._read(descriptor)
                if count <= 0:
                    break
            if count < 0:
                self._drop(descriptor)
