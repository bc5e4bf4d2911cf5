"""Twins that were written by hand, beside the recorded programs that they equal.

What runs them in the product are workers in the sandbox and a process of their own; here, where they can be trusted, it
is this process: the same code without processes. Tests that are marked slow use the real ones.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cwm.interface.answers import programs
from cwm.interface.program import TRANSITION_FUNCTIONS
from cwm.llm import recordings
from cwm.model.bundle import describe
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.twins import proof
from cwm.twins.task import GameSample
from cwm.twins.traced import TracedTwin, TwinWorker
from games import registry
from games.api import state_to_json

FOLDER = Path(__file__).parents[2] / "data" / "programs" / "twins"


@dataclass(frozen=True)
class HandWritten:
    """A recorded program, what a sample of its games met, and its twin.

    Attributes:
        program: of the game.
        sample: of its games.
        source: of the twin.
    """

    program: ProgramSource
    sample: GameSample
    source: str


class InProcess:
    """Answers a twin's worker's requests in this process."""

    def __init__(self, source: str) -> None:
        namespace: dict[str, Any] = {}
        exec(compile(source, "program.py", "exec"), namespace)
        self.loaded = Reply(Outcome.OK)
        self.alive = True
        self._game = SimpleNamespace(functions=namespace)

    def payload(self, module: str, function: str, argument: Any, *, arrays: bool = False, **_: Any) -> Reply:
        # Imported late: it needs JAX, which the worker has imported when it is loaded there.
        from cwm.twins import tracing

        answer = getattr(tracing, function)(self._game, argument, random.Random(0))
        value, numbers = answer if arrays else (answer, {})
        return Reply(Outcome.OK, value, arrays=numbers)

    def close(self) -> None:
        """There is nothing to close."""


class InProcessTwin:
    """A compiled twin in this process."""

    def __init__(self, traced: TracedTwin) -> None:
        from cwm.twins.served import Served

        self._served = Served(traced, 256)
        self.compile_s = 0.0

    def init(self) -> Any:
        return self._rows(self._served.init({}))

    def step(self, rows: Any, indices: Any) -> Any:
        return self._rows(self._in_parts(self._served.step, rows, index=indices))

    def look(self, rows: Any) -> Any:
        return self._in_parts(self._served.look, rows)

    def _in_parts(self, function: Any, rows: Any, **further: Any) -> Any:
        import numpy as np

        given = {"whole": rows[0], "real": rows[1], **further}
        begins = range(0, len(rows[0]), 256)
        parts = [function({name: array[begin : begin + 256] for name, array in given.items()}) for begin in begins]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _rows(self, arrays: Any) -> Any:
        return arrays["whole"], arrays["real"]

    def __enter__(self) -> "InProcessTwin":
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""


def recorded_program(name: str) -> ProgramSource:
    """Returns the program that a recording came to."""
    answers = [record for record in recordings.load(name).records if record.request.purpose.startswith("transition")]
    source = programs(answers[-1].completion.text, TRANSITION_FUNCTIONS, 1)[0]
    game = registry.make(name)
    return ProgramSource(source, state_to_json(game, game.initial_state()), describe(game.info))


@pytest.fixture(scope="session")
def hand_written():
    known: dict[str, HandWritten] = {}

    def of(name: str) -> HandWritten:
        if name not in known:
            program = recorded_program(name)
            source = (FOLDER / f"{name}.py").read_text()
            known[name] = HandWritten(program, GameSample.of(program, 0, None, games=60), source)
        return known[name]

    return of


@pytest.fixture
def in_process(monkeypatch):
    """Has proofs run twins in this process."""
    pytest.importorskip("jax")
    import jax.numpy  # noqa: F401

    class Worker(TwinWorker):
        def _asked(self, function: str, argument: Any, arrays: bool = False) -> Reply:
            if self._worker is None:
                self._worker = InProcess(self._program.source)
            return super()._asked(function, argument, arrays)

    monkeypatch.setattr(proof, "TwinWorker", Worker)
    monkeypatch.setattr(proof, "sandbox", lambda level: None)
    monkeypatch.setattr(proof, "CompiledTwin", InProcessTwin)
    return Worker
