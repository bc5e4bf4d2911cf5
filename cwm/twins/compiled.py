"""A compiled twin in a process of its own, with limits of time and memory; this is its parent's end."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from cwm.sandbox.parent.spawner import popen
from cwm.sandbox.wire.api import SandboxUnavailableError
from cwm.twins.form import Rows
from cwm.twins.frames import MOST_BYTES, FrameError, packed, received
from cwm.twins.traced import TracedTwin, TwinProblemError

ROOT: Final = Path(__file__).parents[2]
LANES: Final = 1024
COMPILE_S: Final = 120.0
CALL_S: Final = 60.0
RATE_S: Final = 600.0
START_S: Final = 300.0
"""On a machine that much else keeps busy what is rehearsed takes minutes to compile."""
MEMORY_MB: Final = 12_288
LEAST_MEMORY_MB: Final = 4096
CPU_S: Final = 24 * 3600


class TwinProcess:
    """A process of ours that compiles one twin, is shut in, and answers; a context manager.

    Args:
        module: that runs in it, which calls `cwm.twins.served.serve`.
        traced: form and texts.
        told: to be said with the twin, JSON.
        arrays: likewise.
        compile_s: seconds that compiling may take, once the process has started.
        memory_mb: address space of the process, MiB; less where the machine has less.

    Raises:
        TwinProblemError: the twin is not allowed, or not compiled within its limits.
        SandboxUnavailableError: the process cannot be locked.
    """

    def __init__(
        self,
        module: str,
        traced: TracedTwin,
        told: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        compile_s: float = COMPILE_S,
        memory_mb: int = MEMORY_MB,
    ) -> None:
        self._process = popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        limits = {"memory_mb": min(memory_mb, _most_memory_mb()), "cpu_s": CPU_S, "parent": os.getpid()}
        about_it = {"form": traced.form.to_json(), "texts": traced.texts}
        began = time.monotonic()
        try:
            self._begin(limits)
            self.asked(about_it | dict(told), arrays, compile_s, "compiled")
        except BaseException:
            self.close()
            raise
        self.compile_s = time.monotonic() - began

    @property
    def process_id(self) -> int:
        """The process that holds it."""
        return self._process.pid

    def _begin(self, limits: Mapping[str, Any]) -> None:
        try:
            told = self._exchanged(limits, {}, START_S)[0]
        except (OSError, EOFError, FrameError) as error:
            raise SandboxUnavailableError(
                f"the process that compiles twins does not start: {error or 'it ended'}"
            ) from None
        if "not_locked" in told:
            raise SandboxUnavailableError(f"the process that compiles twins cannot be locked: {told['not_locked']}")

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def asked(
        self,
        head: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        seconds: float,
        what: str,
        most_bytes: int = MOST_BYTES,
    ) -> dict[str, NDArray[Any]]:
        """Asks, and returns arrays of known types, whatever their names and shapes.

        Args:
            head: JSON.
            arrays: by name.
            seconds: that the answer may take.
            what: is done with the twin meanwhile: "asked", for errors.
            most_bytes: that the arrays of the answer may have.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time.
        """
        late = f"the compiled twin was {what} for more than {seconds:g} seconds"
        ended = f"the process of the compiled twin ended when it was {what}: it may have run out of memory"
        try:
            told, found = self._exchanged(head, arrays, seconds, most_bytes)
        except TimeoutError:
            self.close()
            raise TwinProblemError(f"{late}; make its program smaller") from None
        except (OSError, EOFError, FrameError):
            self.close()
            raise TwinProblemError(f"{ended}; make its program smaller") from None
        if "problem" in told:
            self.close()
            raise TwinProblemError(str(told["problem"]))
        return found

    def _exchanged(
        self,
        head: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        seconds: float,
        most_bytes: int = MOST_BYTES,
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        deadline = time.monotonic() + seconds
        self._send(packed(head, arrays), deadline)
        return received(lambda count: self._read(count, deadline), most_bytes)

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        os.set_blocking(self._to, False)
        while view:
            _wait(self._to, select.POLLOUT, deadline)
            view = view[os.write(self._to, view[: 1 << 20]) :]

    def _read(self, count: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while count:
            _wait(self._from, select.POLLIN, deadline)
            part = os.read(self._from, min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


class CompiledTwin(TwinProcess):
    """One twin; a context manager.

    Args:
        traced: form and texts.
        lanes: states of one call.
        compile_s: seconds that compiling may take, once the process has started.
        memory_mb: address space of the process, MiB; less where the machine has less.

    Raises:
        TwinProblemError: the twin is not allowed, or not compiled within its limits.
        SandboxUnavailableError: the process cannot be locked.
    """

    def __init__(
        self, traced: TracedTwin, lanes: int = LANES, compile_s: float = COMPILE_S, memory_mb: int = MEMORY_MB
    ) -> None:
        self._lanes = lanes
        super().__init__("cwm.twins.served", traced, {"lanes": lanes}, {}, compile_s, memory_mb)

    def init(self) -> Rows:
        """Returns the initial state, one row.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time.
        """
        return _rows(self.asked({"function": "init"}, {}, CALL_S, "asked"))

    def step(self, rows: Rows, indices: NDArray[np.int32]) -> Rows:
        """Returns the next states of N states, by the index of an action each.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time.
        """
        parts = [self._called("step", rows, begin, {"index": indices}) for begin in self._begins(rows)]
        joined = _joined(parts)
        return _rows(joined)

    def look(self, rows: Rows) -> dict[str, NDArray[Any]]:
        """Returns the fields of N states: `player`, `legal`, `chance`, `rewards`, `observations`.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time.
        """
        return _joined([self._called("look", rows, begin, {}) for begin in self._begins(rows)])

    def rate(self, lanes: int, steps: int, seconds: float = RATE_S) -> tuple[float, float]:
        """Plays at random and returns steps a second, and the seconds that compiling and the first call took.

        Args:
            lanes: games at once.
            steps: of one call.
            seconds: that it may take.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time.
        """
        given = {"lanes": np.array([lanes], np.int32), "steps": np.array([steps], np.int32)}
        found = self.asked({"function": "rate"}, given, seconds, "played")
        return float(found["steps_per_s"][0]), float(found["compile_s"][0])

    def _begins(self, rows: Rows) -> range:
        return range(0, max(1, len(rows[0])), self._lanes)

    def _called(
        self, function: str, rows: Rows, begin: int, further: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        part = slice(begin, begin + self._lanes)
        given = {"whole": rows[0][part], "real": rows[1][part]}
        given |= {name: array[part] for name, array in further.items()}
        return self.asked({"function": function}, given, CALL_S, "asked")


def _wait(descriptor: int, event: int, deadline: float) -> None:
    # Not `select`, which knows descriptors up to 1023 alone.
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError("it took too long")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return kept | single | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}


def _most_memory_mb() -> int:
    """Returns what the machine can spare, MiB: three quarters of its memory, but at least what JAX begins with."""
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(LEAST_MEMORY_MB, has * 3 // 4)


def _joined(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    return arrays["whole"], arrays["real"]
