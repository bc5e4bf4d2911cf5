"""The proof of a twin: games of the verified program, every field at every step, until enough was compared.

Nothing here runs what a language model wrote: the program plays in its worker, the twin's functions on states in two of
their own, its arrays in the process that compiled them. Games are drawn from a seed and their own numbers, so that the
same proof comes to the same counts and the same digest wherever it is repeated.
"""

import ast
import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from cwm.interface.program import TRANSITION_FUNCTIONS
from cwm.quality.branch_coverage import Branch, Instrumented, instrument
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Level, Limits, ProgramSource
from cwm.storage.settings import Settings, known_fields
from cwm.synthesis.candidate import TesterError, problem_of
from cwm.twins import oracle
from cwm.twins.comparing import Batch, batch_of, compare
from cwm.twins.compiled import CompiledTwin
from cwm.twins.differences import TwinDifferenceGroup, grouped
from cwm.twins.form import TwinForm
from cwm.twins.traced import TracedTwin, TwinWorker, sandbox

FIRST_BATCH: Final = 500
BATCH: Final = 10_000
PLAY_S: Final = 600.0
RENEWED: Final = 20
"""So many batches a worker lives: its processor time is limited, that of a proof is not."""
PLAYING: Final = Limits(memory_mb=4096, cpu_s=int(RENEWED * PLAY_S), reply_bytes=1 << 30)
NEVER_ASKED: Final = "get_player_name"
"""Tells names alone, which a twin has none of."""


class ProofConfigError(ValueError):
    """A setting of a proof is out of range."""


@dataclass(frozen=True)
class ProofConfig(Settings):
    """Settings.

    Attributes:
        transitions: that are compared at least.
        seed: of the games.
        max_length: a game is broken off after so many actions.
    """

    error: ClassVar[type[Exception]] = ProofConfigError

    transitions: int = 1_000_000
    seed: int = 0
    max_length: int = 2000

    def __post_init__(self) -> None:
        self._check_least(1, "transitions", "max_length")


@dataclass(frozen=True)
class ProofState:
    """How far a proof has come: what it needs to go on.

    Attributes:
        batches: compared.
        games: played.
        broken: of them broken off.
        transitions: compared, each as often as it was met.
        states: compared, each once a batch.
        unfit: observations that the vectors cannot hold, and that were not compared.
        taken: numbers of the program's branches.
        pool: actions of games that took new branches.
        digest: of everything that the program said; "" before the first batch.
        differences: of the batch that ended it, if one did.
    """

    batches: int = 0
    games: int = 0
    broken: int = 0
    transitions: int = 0
    states: int = 0
    unfit: int = 0
    taken: tuple[int, ...] = ()
    pool: tuple[tuple[str, ...], ...] = ()
    digest: str = ""
    differences: tuple[TwinDifferenceGroup, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the state as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns what `to_json` wrote."""
        known = known_fields(cls, data)
        groups = tuple(TwinDifferenceGroup.from_json(group) for group in data["differences"])
        pool = tuple(tuple(actions) for actions in data["pool"])
        return cls(**(known | {"differences": groups, "pool": pool, "taken": tuple(data["taken"])}))


@dataclass(frozen=True)
class ProofResult:
    """What a proof came to.

    Attributes:
        state: counts and differences.
        branches: of the program, as far as its functions lead to them.
        missed: those that no game took; of what they do, nothing is proved.
        wanted: transitions that were to be compared.
        compile_s: seconds that compiling the twin took; decides nothing.
    """

    state: ProofState
    branches: int
    missed: tuple[Branch, ...]
    wanted: int
    compile_s: float = field(default=0.0, compare=False)

    @property
    def proved(self) -> bool:
        """Whether enough was compared, nothing was left out and nothing differs.

        Branches that no game met may be left (many guard against what never happens): `missed` lists them.
        """
        state = self.state
        return not state.differences and not state.unfit and state.transitions >= self.wanted

    @property
    def in_words(self) -> str:
        """Tells the result in one sentence."""
        state = self.state
        if state.differences:
            parts = ", ".join(f"{group.title} ({group.count})" for group in state.differences[:5])
            return f"{state.transitions:,} transitions compared; differences in {parts}"
        told = f"{state.transitions:,} transitions of {state.games:,} games compared, no difference"
        if state.unfit:
            return f"{told}; but {state.unfit:,} observations do not fit the vectors and could not be compared"
        if not self.proved:
            return f"{told}; but {self.wanted:,} were to be compared"
        branches = f"{self.branches - len(self.missed)} of {self.branches} branches of the program met"
        but = f"proved but for {len(self.missed)} branches that no game met: " if self.missed else "proved: "
        return f"{but}{told}; {branches}"

    def to_json(self) -> dict[str, Any]:
        """Returns counts, without what it needed to go on."""
        data = self.state.to_json()
        del data["pool"], data["taken"]
        return data | {"branches": self.branches, "missed": [branch.to_json() for branch in self.missed]}


Keep: TypeAlias = Callable[[ProofState], None]


@dataclass(frozen=True)
class ProofTask:
    """What is compared with what.

    Attributes:
        program: the verified program, as a worker is given it.
        source: the twin's.
        traced: the twin's texts and form.
        schema: of observations, as `cwm.observations.schema` writes it.
        replays: actions of games that are played before all others: the planner's, recorded ones.
    """

    program: ProgramSource
    source: str
    traced: TracedTwin
    schema: Any
    replays: tuple[tuple[str, ...], ...] = ()


def prove(
    task: ProofTask,
    config: ProofConfig,
    level: Level | None = None,
    begun: ProofState | None = None,
    keep: Keep = lambda state: None,
) -> ProofResult:
    """Compares a twin with its program until enough was compared, or until something differs.

    Args:
        task: what is compared.
        config: settings.
        level: isolation level of the workers, None for the best that this machine has.
        begun: how far an earlier proof of the same task and settings came, None for a new one.
        keep: given the state after every batch.

    Raises:
        TwinProblemError: the twin could not be asked.
        TesterError: the program's games cannot be had, or workers failed through no fault of the twin.
        SandboxUnavailableError: no worker can be started.
    """
    marked = _marked(task.program)
    program = task.program if marked is None else replace(task.program, source=marked.source)
    state = begun or ProofState()
    with CompiledTwin(task.traced) as twin:
        while _goes_on(state, config):
            with _Workers(task, program, level) as workers:
                for _ in range(RENEWED):
                    if _goes_on(state, config):
                        batch = workers.played(_argument(task, config, state))
                        found = compare(batch, task.traced.form, workers.encoder, workers.decoder, twin)
                        state = _after(state, batch, grouped(found))
                        keep(state)
        compile_s = twin.compile_s
    reached = () if marked is None else tuple(_reached(task.program.source, marked))
    missed = tuple(branch for branch in reached if branch.number not in set(state.taken))
    return ProofResult(state, len(reached), missed, config.transitions, compile_s)


def _goes_on(state: ProofState, config: ProofConfig) -> bool:
    return state.transitions < config.transitions and not state.differences and not state.unfit


class _Workers:
    """The program's worker and two of the twin's, for some batches; a context manager."""

    def __init__(self, task: ProofTask, program: ProgramSource, level: Level | None) -> None:
        self._form = task.traced.form
        with ExitStack() as opened:
            self._player = opened.enter_context(Sandbox(PLAYING, level, oracle.PAYLOAD).start(program))
            self.encoder, self.decoder = (
                opened.enter_context(TwinWorker(task.source, task.program, sandbox(level))) for _ in range(2)
            )
            self._opened = opened.pop_all()

    def played(self, argument: dict[str, Any]) -> Batch:
        """Returns what the program says of some more games.

        Raises:
            TesterError: it fails, or its games are none.
        """
        reply = self._player.payload(oracle.MODULE, "play", argument, seed=0, timeout_s=PLAY_S, arrays=True)
        problem = problem_of(reply)
        if problem is not None:
            raise TesterError(f"the verified program fails in a game: {problem}")
        batch = batch_of(reply, self._form)
        if not batch.transitions.size and not batch.unlisted:
            raise TesterError("the verified program's games have no transitions")
        return batch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()


def _argument(task: ProofTask, config: ProofConfig, state: ProofState) -> dict[str, Any]:
    left = config.transitions - state.transitions
    form: TwinForm = task.traced.form
    return {
        "actions": list(form.actions),
        "chance": list(form.outcomes),
        "schema": task.schema,
        "seed": config.seed,
        "first": state.games,
        "transitions": min(left, FIRST_BATCH if not state.batches else BATCH),
        "replays": [] if state.batches else [list(actions) for actions in task.replays],
        "taken": list(state.taken),
        "pool": [list(actions) for actions in state.pool],
        "max_length": config.max_length,
    }


def _after(state: ProofState, batch: Batch, differences: tuple[TwinDifferenceGroup, ...]) -> ProofState:
    digest = hashlib.sha256(state.digest.encode("ascii"))
    for text in batch.states:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    for name in sorted(batch.fields):
        digest.update(np.ascontiguousarray(batch.fields[name]).tobytes())
    digest.update(np.ascontiguousarray(batch.transitions).tobytes())
    return ProofState(
        batches=state.batches + 1,
        games=state.games + batch.games,
        broken=state.broken + batch.broken,
        transitions=state.transitions + len(batch.transitions),
        states=state.states + len(batch.states),
        unfit=state.unfit + batch.unfit,
        taken=tuple(sorted(batch.taken)),
        pool=tuple(tuple(actions) for actions in batch.pool),
        digest=digest.hexdigest(),
        differences=differences,
    )


def _marked(program: ProgramSource) -> Instrumented | None:
    try:
        return instrument(program.source)
    except (SyntaxError, ValueError):
        return None


def _reached(source: str, marked: Instrumented) -> list[Branch]:
    """Returns the branches in what the functions of the game call, by name; inference is none of it."""
    bodies = {
        node.name: node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }
    wanted = [name for name in TRANSITION_FUNCTIONS if name != NEVER_ASKED]
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in bodies and name not in found:
            found.add(name)
            wanted += [node.id for node in ast.walk(bodies[name]) if isinstance(node, ast.Name)]
    return [branch for branch in marked.branches if branch.function.split(".")[0] in found]
