"""The trusted side of a twin's worker: what it traced, read and checked; and its states as arrays and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.parent.payload import Libraries
from cwm.sandbox.wire.api import Level, Limits, Outcome, ProgramSource, Reply
from cwm.sandbox.wire.arrays import BinaryArray
from cwm.synthesis.candidate import problem_of
from cwm.twins.form import ArrayForm, Rows, TwinForm
from cwm.twins.text.language import MOST_CHARACTERS, Program, TensorType, TwinTextError
from cwm.twins.text.reader import read
from cwm.twins.tracing import MOST_ARRAYS, MOST_NUMBERS, MOST_TABLE, REAL_TYPES, WHOLE_TYPES

MODULE: Final = "cwm.twins.tracing"
TEXTS: Final = ("init", "step", "look")
LIBRARIES: Final = Libraries(
    names=("numpy", "jax", "jax.numpy", "jax.lax"),
    packages=("jax", "jaxlib", "numpy", "ml_dtypes", "opt_einsum", "scipy"),
    module=MODULE,
    warm_up="warm_up",
    environment={"JAX_PLATFORMS": "cpu", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    extra="batched",
)
LIMITS: Final = Limits(memory_mb=6144, cpu_s=3600, wall_s=180.0, reply_bytes=64 * 1024 * 1024)
TRACE_S: Final = 180.0
STATE_TYPES: Final = (*WHOLE_TYPES, *REAL_TYPES)
OTHER_FORM: Final = "the twin did not answer in the form that was asked for"


class TwinProblemError(Exception):
    """A twin cannot be used; the message says why, in words for whoever wrote it."""


@dataclass(frozen=True)
class TracedTwin:
    """What a twin's worker said; the texts are as it said them until `programs` has read them.

    Attributes:
        form: tables and arrays, checked.
        texts: of `init`, `step` and `look`, by name.
    """

    form: TwinForm
    texts: dict[str, str]

    def programs(self) -> dict[str, Program]:
        """Returns the texts, read and checked.

        Raises:
            TwinTextError: one is not allowed, or takes or returns something else than its form says.
        """
        found = {name: read(self.texts[name]) for name in TEXTS}
        form = self.form
        state = tuple(TensorType(array.dtype, array.shape) for array in form.arrays)
        index = TensorType("int32", ())
        seen = (
            index,
            TensorType("bool", (len(form.actions),)),
            TensorType("float32", (len(form.outcomes),)),
            TensorType("float32", (form.num_players,)),
            TensorType("float32", (form.num_players, form.width)),
        )
        for name, taken, given in (("init", (), state), ("step", (*state, index), state), ("look", state, seen)):
            if found[name].main.types != taken or found[name].results != given:
                raise TwinTextError(f"the traced function {name} takes or returns other arrays than its form says")
        return found


def sandbox(level: Level | None) -> Sandbox:
    """Returns the sandbox of twins."""
    return Sandbox(LIMITS, level, (MODULE,), libraries=LIBRARIES)


class TwinWorker:
    """A twin in a worker of its own; a context manager.

    Args:
        source: the twin.
        beside: the model's program, of which the twin is given the initial state and the facts of the game.
        place: where it runs, see `sandbox`.
        seconds: that one request may take.
    """

    def __init__(self, source: str, beside: ProgramSource, place: Sandbox, seconds: float = TRACE_S) -> None:
        self._program = ProgramSource(source, beside.initial_state, beside.info)
        self._place = place
        self._seconds = seconds
        self._worker: Worker | None = None

    def traced(self, width: int) -> TracedTwin:
        """Traces the twin; whether what it is traced to is allowed, `cwm.twins.compiled.CompiledTwin` says.

        Args:
            width: of observation vectors.

        Raises:
            TwinProblemError: it cannot be traced.
            TesterError: it could not be tried through no fault of its own.
            SandboxUnavailableError: no worker can be started.
        """
        tables = _plain(self._asked("tables", {}), dict.fromkeys(("actions", "chance"), list))
        for key, least in (("actions", 1), ("chance", 0)):
            table = tables[key]
            right = all(type(action) is str for action in table) and least <= len(table) <= MOST_TABLE
            if not right or len(set(table)) != len(table):
                raise TwinProblemError(OTHER_FORM)
        players = self._program.info["num_players"]
        asked = {"players": players, "width": width} | {key: len(tables[key]) for key in ("actions", "chance")}
        told = _plain(self._asked("trace", asked), {"layout": list, **dict.fromkeys(TEXTS, str)})
        form = TwinForm(arrays_of(told["layout"]), tuple(tables["actions"]), tuple(tables["chance"]), players, width)
        # They are read where they are compiled, in a process with limits of time and memory.
        if any(len(told[name]) > MOST_CHARACTERS for name in TEXTS):
            raise TwinProblemError(f"a traced function has more than {MOST_CHARACTERS:,} characters; make it smaller")
        return TracedTwin(form, {name: told[name] for name in TEXTS})

    def encoded(self, form: TwinForm, states: Sequence[str]) -> tuple[Rows, list[tuple[int, str]]]:
        """Returns states as numbers, and what went wrong: (place, what).

        Raises:
            TwinProblemError, TesterError, SandboxUnavailableError: as `traced`.
        """
        reply = self._asked("encode", {"layout": form.layout, "states": list(states)}, arrays=True)
        count = len(states)
        widths = [sum(_size(array) for array in form.arrays if array.is_real == real) for real in (False, True)]
        whole = _array(reply.arrays.get("whole"), "int32", (count, widths[0]))
        real = _array(reply.arrays.get("real"), "float32", (count, widths[1]))
        return (whole, real), _problems(reply.value, count)

    def decoded(self, form: TwinForm, rows: Rows) -> tuple[list[str], list[tuple[int, str]]]:
        """Returns the states of numbers as texts with sorted keys, and what went wrong: (place, what).

        Raises:
            TwinProblemError, TesterError, SandboxUnavailableError: as `traced`.
        """
        whole, real = rows
        asked = {"layout": form.layout, "whole": whole.tolist(), "real": [list(map(float, row)) for row in real]}
        value = self._asked("decode", asked).value
        states = value.get("states") if isinstance(value, dict) else None
        if not isinstance(states, list) or len(states) != len(whole) or not all(type(text) is str for text in states):
            raise TwinProblemError("decode did not answer in the form that was asked for")
        return states, _problems(value, len(whole))

    def _asked(self, function: str, argument: dict[str, Any], arrays: bool = False) -> Reply:
        if self._worker is None or not self._worker.alive:
            self._worker = self._place.start(self._program)
        worker = self._worker
        reply = worker.loaded
        if reply.outcome is Outcome.OK:
            reply = worker.payload(MODULE, function, argument, seed=0, timeout_s=self._seconds, arrays=arrays)
        problem = problem_of(reply)
        if problem is not None:
            raise TwinProblemError(problem)
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.close()


def _plain(reply: Reply, expected: Mapping[str, type]) -> dict[str, Any]:
    """Returns an answer that has the expected keys, each with a value of its type."""
    value = reply.value
    if isinstance(value, dict) and isinstance(value.get("problem"), str):
        raise TwinProblemError(value["problem"][:4000])
    if not isinstance(value, dict) or set(value) != set(expected):
        raise TwinProblemError(OTHER_FORM)
    if not all(type(value[key]) is kind for key, kind in expected.items()):
        raise TwinProblemError(OTHER_FORM)
    return value


def arrays_of(layout: Any) -> tuple[ArrayForm, ...]:
    """Returns the arrays that a layout tells of.

    Args:
        layout: JSON, as `TwinForm.layout` writes it.

    Raises:
        TwinProblemError: it is none.
    """
    found = []
    for row in layout if isinstance(layout, list) else ():
        good = isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and row[1] in STATE_TYPES
        if not good or not isinstance(row[2], list) or not all(type(size) is int and size > 0 for size in row[2]):
            raise TwinProblemError(OTHER_FORM)
        found.append(ArrayForm(row[0], row[1], tuple(row[2])))
    fits = 0 < len(found) <= MOST_ARRAYS and sum(_size(array) for array in found) <= MOST_NUMBERS
    if not fits or [array.name for array in found] != sorted({array.name for array in found}):
        raise TwinProblemError(OTHER_FORM)
    return tuple(found)


def _size(array: ArrayForm) -> int:
    return prod(array.shape)


def _array(given: BinaryArray | None, dtype: str, shape: tuple[int, int]) -> Any:
    if given is None or given.dtype != dtype or given.shape != shape:
        raise TwinProblemError("encode did not answer in the form that was asked for")
    return np.frombuffer(given.data, f"<{dtype[0]}4").reshape(shape)


def _problems(value: Any, count: int) -> list[tuple[int, str]]:
    rows = value.get("problems") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise TwinProblemError(OTHER_FORM)
    found = []
    for row in rows:
        good = isinstance(row, list) and len(row) == 2 and type(row[0]) is int and type(row[1]) is str
        if not good or not 0 <= row[0] < count:
            raise TwinProblemError(OTHER_FORM)
        found.append((row[0], row[1][:2000]))
    return found


def canonical(state: Any) -> str:
    """Returns a state as the text that twins' workers give of it."""
    return json.dumps(state, sort_keys=True, allow_nan=False, separators=(",", ":"))
