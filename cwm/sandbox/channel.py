"""The parent's end of the pipes to one worker: frames with deadlines, bounded drains, and what a death means."""

import contextlib
import os
import select
import signal
import struct
import subprocess
import time

HEADER = struct.Struct(">I")
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
    """Pipes to one child process."""

    def __init__(self, process: subprocess.Popen[bytes], request_fd: int, reply_fd: int, output_bytes: int) -> None:
        """Args:
        process: the child, started in a session of its own, with stdout and stderr as pipes.
        request_fd: where requests are written.
        reply_fd: where replies are read.
        output_bytes: how much of the child's output is kept (the last).
        """
        self._process = process
        self._request_fd = request_fd
        self._reply_fd = reply_fd
        self._output_bytes = output_bytes
        self._incoming = bytearray()
        self._output = bytearray()
        self._printed = 0
        self._ended = False
        self.cpu_s = 0.0
        assert process.stdout is not None
        assert process.stderr is not None
        self._drains = {process.stdout.fileno(), process.stderr.fileno()}
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

        Args:
            deadline: `time.monotonic()` seconds.
            limit: largest payload in bytes.

        Raises:
            DeadlineError: none came in time.
            ClosedError: the worker is gone.
            OversizeError: it is larger than `limit`.
        """
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
            self._wait(deadline)

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

    def signal(self, number: int) -> None:
        """Sends a signal to the worker alone."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    def wait_for_end(self, seconds: float) -> int | None:
        """Returns the exit status (negative: signal) if the worker ends by itself within `seconds`, else None."""
        end = time.monotonic() + seconds
        while not self._reap(os.WNOHANG):
            if time.monotonic() > end:
                return None
            time.sleep(0.002)
        return self._process.returncode

    def destroy(self) -> None:
        """Kills the whole process group, collects the child and closes every descriptor."""
        self._kill_group()
        self._reap(0)
        for descriptor in (self._request_fd, self._reply_fd):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _kill_group(self) -> None:
        # Only while the child is not collected: afterwards its number may belong to someone else.
        # PermissionError: on some systems the answer for a group of zombies.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _reap(self, flags: int) -> bool:
        """Collects the child if it has ended (with `os.WNOHANG`), or once it ends (with 0)."""
        if self._process.returncode is not None:
            return True
        if hasattr(os, "waitid"):
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | flags) is None:
                return False
            self._kill_group()
        # Without waitid (macOS before Python 3.13) processes that a dead child started may outlive it.
        pid, status, usage = os.wait4(self._process.pid, flags)
        if pid == 0:
            return False
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        return True

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
        if not events and self._reap(os.WNOHANG):
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
