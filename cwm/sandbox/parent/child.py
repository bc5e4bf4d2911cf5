"""Child processes as the channel sees them: one that was started by exec, or one that the nursery forked."""

import contextlib
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Protocol

from cwm.sandbox.worker.nursery import STATUS

STATUS_S = 5.0
"""A nursery that has not told by then what became of a killed worker is gone."""
SHELL_SIGNAL = 128
"""A launcher ends with this and the signal's number where its child was ended by a signal."""


class Child(Protocol):
    """A worker's process.

    Attributes:
        stdout: descriptor of what it prints, for reading.
        stderr: likewise.
        returncode: exit status (negative: signal) once it is collected, before that None; and None if it is lost.
        cpu_s: CPU seconds it used, once it is collected.
        lost: its status can never be known: the process that forked it is gone.
    """

    stdout: int
    stderr: int
    returncode: int | None
    cpu_s: float
    lost: bool

    def signal(self, number: int) -> None:
        """Sends a signal to the worker alone, if it lives."""

    def kill(self) -> None:
        """Kills the worker and everything that it started, unless it is collected."""

    def collect(self, wait: bool) -> bool:
        """Returns True if the worker has ended; `wait` waits for it."""

    def starved_s(self) -> float:
        """Returns for how many seconds the worker was ready to run and had no processor; 0 where that is not told."""

    def close(self) -> None:
        """Closes the descriptors."""


class StartedChild:
    """A process started by exec, in a session of its own.

    Attributes:
        wrapped: process id of the worker itself, where a launcher stands around it.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        """Args:
        process: with stdout and stderr as pipes.
        """
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdout = process.stdout.fileno()
        self.stderr = process.stderr.fileno()
        self.returncode: int | None = None
        self.cpu_s = 0.0
        self.lost = False
        self._process = process
        self.wrapped: int | None = None

    def signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.wrapped or self._process.pid, number)

    def kill(self) -> None:
        # Only while the child is not collected: afterwards its number may belong to someone else.
        # PermissionError: on some systems the answer for a group of zombies.
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def collect(self, wait: bool) -> bool:
        if self.returncode is not None:
            return True
        flags = 0 if wait else os.WNOHANG
        if hasattr(os, "waitid"):
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | flags) is None:
                return False
            self.kill()
        # Without waitid (macOS before Python 3.13) processes that a dead child started may outlive it.
        pid, status, usage = os.wait4(self._process.pid, flags)
        if pid == 0:
            return False
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code
        self.returncode = SHELL_SIGNAL - code if self.wrapped and code > SHELL_SIGNAL else code
        self.cpu_s = usage.ru_utime + usage.ru_stime
        return True

    def starved_s(self) -> float:
        return _run_delay_s(self.wrapped or self._process.pid)

    def close(self) -> None:
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


class ForkedChild:
    """A process that the nursery forked: known by a descriptor, not by a number that may pass to another.

    It can start no other process: only levels that forbid it are served by a nursery.
    """

    def __init__(self, pidfd: int, status_fd: int, stdout: int, stderr: int) -> None:
        """Args:
        pidfd: of the process.
        status_fd: where the nursery tells how it ended.
        stdout: pipe, for reading.
        stderr: likewise.
        """
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self.cpu_s = 0.0
        self.lost = False
        self._pidfd = pidfd
        self._status_fd = status_fd

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def kill(self) -> None:
        if self.returncode is None:
            self.signal(signal.SIGKILL)

    def collect(self, wait: bool) -> bool:
        if self.returncode is not None or self.lost:
            return True
        end = time.monotonic() + (STATUS_S if wait else 0.0)
        poll = select.poll()
        poll.register(self._status_fd, select.POLLIN)
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            self.lost = wait
            return wait
        data = os.read(self._status_fd, STATUS.size)
        if len(data) == STATUS.size:
            self.returncode, self.cpu_s = STATUS.unpack(data)
        else:
            self.lost = True
        return True

    def starved_s(self) -> float:
        try:
            # The number that the descriptor has now: the process itself, or -1 once it is gone.
            lines = Path(f"/proc/self/fdinfo/{self._pidfd}").read_text(encoding="ascii").splitlines()
            return _run_delay_s(int(next(line for line in lines if line.startswith("Pid:")).split()[1]))
        except (OSError, ValueError, StopIteration):
            return 0.0

    def close(self) -> None:
        for descriptor in (self._pidfd, self._status_fd, self.stdout, self.stderr):
            os.close(descriptor)


def _run_delay_s(pid: int) -> float:
    """Returns how long a process stood in line for a processor (Linux: Documentation/scheduler/sched-stats), or 0."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
