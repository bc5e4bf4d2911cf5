"""`cwm posg speed`: steps and simulations a second of CPU time in games of simultaneous moves, beside others'.

The other package answers in a process of its own, one line of JSON a question, e.g. `tests/oracle/posggym_speed.py`.
"""

import json
import math
import random
import shlex
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from arena.agents.posg import policies
from arena.benchmarks.measurement import Measurement, interleaved
from arena.usage import UsageError
from games.posg import registry
from games.posg.api import FastStep, PosgModel, observation_to_json
from games.posg.chance import drawing
from search.api import Position
from search.posg.config import PosgPlannerConfig
from search.posg.planner import make

PLANNERS: Final = ("pomcp", "ipomcp", "intmcp", "potmmcp")
TYPELESS: Final = ("step", "pomcp", "intmcp")
"""What takes no types of the others."""
POPULATIONS: Final[Mapping[str, Sequence[str]]] = {
    "cooperative-reaching": ("H1", "H2", "H3", "H4", "H5"),
    "driving": ("A0", "A40", "A60", "A80", "A100"),
    "foraging": ("H1", "H2", "H3", "H4", "H5"),
    "overcooked-v2-cramped-room": ("chef", "cook", "server"),
    "predator-prey": ("H1", "H2", "H3"),
}
"""Types of the others by game; elsewhere they act at random."""
MOST_STEPS: Final = 50
"""Of a random game that has no limit of its own."""


@dataclass(frozen=True)
class SpeedSettings:
    """How speed is measured.

    Attributes:
        seconds: a decision, and of stepping.
        steps: of one game, of which each is searched.
        rounds: times that both sides are measured in turn.
    """

    seconds: float = 0.3
    steps: int = 6
    rounds: int = 3


class OtherPackage:
    """Another package, asked in turn; a context manager that ends its process."""

    def __init__(self, command: str) -> None:
        """Raises:
        UsageError: the command cannot be started.
        """
        self._command = command
        try:
            self._process = subprocess.Popen(
                shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"{command!r} cannot be started: {error}.") from error

    def __enter__(self) -> "OtherPackage":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def ask(self, **question: Any) -> dict[str, Any]:
        """Returns its answer.

        Raises:
            UsageError: it ended, or wrote something else.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            answer = json.loads(line)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{self._command!r} gave no line of JSON to {json.dumps(question)}; what it wrote stands above."
            ) from error
        if not isinstance(answer, dict) or not ("missing" in answer or {"count", "cpu_s"} <= answer.keys()):
            raise UsageError(f"{self._command!r} answered {line.strip()[:200]!r}, not count and cpu_s, or missing.")
        return answer


def measure(
    games: Sequence[str], settings: SpeedSettings, beside: OtherPackage | None, on_done: Callable[[Measurement], None]
) -> list[Measurement]:
    """Measures steps and simulations a second of CPU time.

    Args:
        games: ids.
        settings: see `SpeedSettings`.
        beside: the other package; None: ours alone.
        on_done: is told each figure.

    Raises:
        UnknownGameError: there is no such game.
        UsageError: the other package does not answer.
    """
    found = []
    for game in games:
        registry.entry_of(game)
        for what in ("step", *PLANNERS):
            one = _measured(game, what, settings, beside)
            on_done(one)
            found.append(one)
    return found


def _measured(game: str, what: str, settings: SpeedSettings, beside: OtherPackage | None) -> Measurement:
    types = () if what in TYPELESS else POPULATIONS.get(game, ("uniform",))
    unit = "steps/s" if what == "step" else "simulations/s"
    name, note = f"posg/{game}/{what}", f"types {'+'.join(types)}" if types else ""

    def ours() -> float:
        return _steps(game, settings.seconds) if what == "step" else _simulations(game, what, types, settings)

    def theirs() -> float:
        assert beside is not None
        answer = beside.ask(game=game, what=what, types=list(types), seconds=settings.seconds, steps=settings.steps)
        if "missing" in answer:
            raise LookupError(answer["missing"])
        return float(answer["count"] / answer["cpu_s"])

    if beside is not None:
        try:
            theirs()
        except LookupError as error:
            note = f"{note}; " * bool(note) + f"not beside: {error}"[:160]
        else:
            return interleaved(name, unit, ours, theirs, settings.rounds, note)
    return Measurement(name, statistics.median(ours() for _ in range(settings.rounds)), unit, note=note)


def _steps(game: str, seconds: float) -> float:
    """Returns steps with observations of all agents a second of CPU time, in random play."""
    model = registry.make(game)
    rng, count, begin = random.Random(0), 0, time.process_time()
    while True:
        count += sum(1 for _ in _random_game(model, rng))
        spent = time.process_time() - begin
        if spent >= seconds:
            return count / spent


def _random_game(model: PosgModel, rng: random.Random) -> Iterator[None]:
    choose, uniform, info = drawing(rng), rng.random, model.info
    fast = model if isinstance(model, FastStep) else None
    state = model.initial_state(choose)
    model.observe(state, None, choose)
    for _ in range(info.step_limit or MOST_STEPS):
        joint = tuple(actions[int(uniform() * len(actions))] for actions in info.actions)
        if fast is not None:
            state, _, over = fast.sample_step(state, joint, rng)
            fast.sample_observations(state, joint, rng)
        else:
            state, _, over = model.move(state, joint, choose)
            model.observe(state, joint, choose)
        yield
        if all(over) or not all(model.legal_actions(state, agent) for agent in range(info.num_agents)):
            return


def _simulations(game: str, method: str, types: Iterable[str], settings: SpeedSettings) -> float:
    """Returns simulations a second of CPU time, beliefs included, in the first steps of a game with a random other."""
    model = registry.make(game)
    particles = math.ceil(100 * settings.seconds)
    config = PosgPlannerConfig.from_json(
        {
            "method": method,
            "types": [*types],
            "belief": "rejection",  # as published
            "particles": particles + math.ceil(particles / 16),
            "seconds": settings.seconds,
            "simulations": 1_000_000,
            "meta": "uniform",
            "episodes": 1,
        }
    )
    planner = make(model, 0, config, policies(model))
    rng, history, count, spent = random.Random(0), list[Any](), 0, 0.0
    choose, info = drawing(rng), model.info
    state = model.initial_state(choose)
    seen = model.observe(state, None, choose)
    for _ in range(settings.steps):
        history.append((observation_to_json(model, 0, seen[0]), None))
        begin = time.process_time()
        decision = planner.choose(Position(0, tuple(history)), rng)
        spent += time.process_time() - begin
        count += decision.simulations
        history[-1] = (history[-1][0], decision.action)
        offered = [model.legal_actions(state, agent) or actions for agent, actions in enumerate(info.actions)]
        joint = (decision.action, *(rng.choice(legal) for legal in offered[1:]))
        state, _, over = model.move(state, joint, choose)
        seen = model.observe(state, joint, choose)
        if over[0]:
            break
    return count / spent
