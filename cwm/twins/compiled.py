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
from cwm.twins.form import Rows
from cwm.twins.frames import FrameError, packed, received
from cwm.twins.traced import TracedTwin, TwinProblemError

ROOT: Final = Path(__file__).parents[2]
LANES: Final = 1024
COMPILE_S: Final = 120.0
CALL_S: Final = 60.0
MEMORY_MB: Final = 12_288
CPU_S: Final = 24 * 3600


class CompiledTwin:
    """One twin; a context manager.

    Args:
        traced: form and texts.
        lanes: states of one call.
        compile_s: seconds that compiling may take.
        memory_mb: address space of the process, MiB.
    """

    def __init__(
        self, traced: TracedTwin, lanes: int = LANES, compile_s: float = COMPILE_S, memory_mb: int = MEMORY_MB
    ) -> None:
        self._lanes = lanes
        self._process = popen(
            [sys.executable, "-P", "-m", "cwm.twins.served"],
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
        began = time.monotonic()
        limits = {"memory_mb": memory_mb, "cpu_s": CPU_S, "lanes": lanes}
        try:
            self._asked({"form": traced.form.to_json(), "texts": traced.texts, **limits}, {}, compile_s, "compiled")
        except BaseException:
            self.close()
            raise
        self.compile_s = time.monotonic() - began

    def init(self) -> Rows:
        """Returns the initial state, one row.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time.
        """
        return _rows(self._asked({"function": "init"}, {}, CALL_S, "asked"))

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

    def _begins(self, rows: Rows) -> range:
        return range(0, max(1, len(rows[0])), self._lanes)

    def _called(
        self, function: str, rows: Rows, begin: int, further: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        part = slice(begin, begin + self._lanes)
        given = {"whole": rows[0][part], "real": rows[1][part]}
        given |= {name: array[part] for name, array in further.items()}
        return self._asked({"function": function}, given, CALL_S, "asked")

    def _asked(
        self, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], seconds: float, what: str
    ) -> dict[str, NDArray[Any]]:
        deadline = time.monotonic() + seconds
        late = f"the compiled twin was {what} for more than {seconds:g} seconds"
        ended = f"the process of the compiled twin ended when it was {what}: it may have run out of memory"
        try:
            self._send(packed(head, arrays), deadline)
            told, found = received(lambda count: self._read(count, deadline))
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

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        os.set_blocking(self._to, False)
        while view:
            _, ready, _ = select.select([], [self._to], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            view = view[os.write(self._to, view[: 1 << 20]) :]

    def _read(self, count: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while count:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            part = os.read(self._from, min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}


def _joined(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    return arrays["whole"], arrays["real"]
