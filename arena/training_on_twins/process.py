"""The parent's end of the process in which agents learn on a twin: what is asked, and a check of what leaves it."""

from collections.abc import Callable, Mapping
from math import inf, prod
from typing import Any, Final, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from arena.training_on_models.results import Results
from arena.training_on_twins.learning import SeatLearner
from arena.training_on_twins.seats import MOST_ROUNDS, STUCK, Ended
from cwm.storage.keys import derive
from cwm.twins.compiled import TwinProcess
from cwm.twins.form import TwinForm
from cwm.twins.traced import TracedTwin, TwinProblemError
from search.learn import checkpoint
from search.learn.errors import CheckpointError, LearnError
from search.learn.ppo.losses import Losses

LEARN_S: Final = 1800.0
"""After so many seconds without an answer a training has failed; compiling is part of the first one."""
NUMBER: Final = 4
"""Bytes of a number in an answer."""
NEVER_MOVES: Final = (
    f"a seat did not come to move on the twin while all else took {MOST_ROUNDS} actions: there is nothing to learn at "
    "it against these players; train another seat"
)
OTHER_FORM: Final = "the process in which agents learn did not answer in the form that was asked for"


class Lot(NamedTuple):
    """What some updates came to.

    Attributes:
        losses: of each.
        results: of the games that ended in each, at the learner's seat.
        cut: games of each that were too long.
        seconds: that all took.
    """

    losses: list[dict[str, float]]
    results: list[Results]
    cut: list[int]
    seconds: float


class LearningTask(Protocol):
    """What is learned, as settings."""

    @property
    def updates(self) -> int:
        """Updates of the whole training."""
        ...

    @property
    def steps_per_update(self) -> int:
        """Decisions between two updates."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Returns the task as JSON."""
        ...


class Method(NamedTuple):
    """How is learned.

    Attributes:
        served: module of the process.
        learner: class of the compiled functions, which takes a form, functions and a task.
        losses: names of the losses of an update.
    """

    served: str
    learner: Callable[..., Any]
    losses: tuple[str, ...]


PPO: Final = Method("arena.training_on_twins.served", SeatLearner, Losses._fields)


class LearningTwin(TwinProcess):
    """A twin and what learns on it, in a process that is shut in; a context manager.

    Args:
        traced: the twin.
        task: what is learned.
        method: how.
        others: parameters of a fixed policy, by name; {} for none.

    Raises:
        TwinProblemError: the twin is not allowed, or not compiled within its limits.
        SandboxUnavailableError: the process cannot be locked.
    """

    def __init__(
        self,
        traced: TracedTwin,
        task: LearningTask,
        method: Method = PPO,
        others: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> None:
        self.task = task
        self._losses = method.losses
        self._made = 0
        given = dict(others or {})
        # Only shapes are computed here: of arrays that are as the form says, whatever the twin's functions do.
        learner = method.learner(traced.form, unknown_functions(traced.form), task)
        nested = checkpoint.nested(given) if given else ()
        self.shapes: Any = jax.eval_shape(learner.begin, np.uint32(0), np.int32(0), nested)
        self._state_bytes = sum(prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(self.shapes))
        super().__init__(method.served, traced, {"task": task.to_json()}, given)

    def begin(self, seat: int, seed: int) -> None:
        """Begins a training.

        Args:
            seat: of the learner.
            seed: of its parameters and all choices.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time; so in all that follows.
        """
        self._said("begin", 0, seat=seat, seed=derive("twin games", seed) & 0xFFFFFFFF)
        self._made = 0

    def resume(self, state: Any) -> None:
        """Goes on with a training where it stood."""
        self.asked({"function": "resume"}, checkpoint.arrays_of(state), LEARN_S, "given a training", 0)
        self._made = int(state.updates)

    def run(self, updates: int, seconds: float) -> Lot:
        """Makes at least one update.

        Args:
            updates: at most so many.
            seconds: after which no further one is begun.

        Raises:
            LearnError: what it learns from cannot be learned.
        """
        most_bytes = NUMBER * (updates * (len(self._losses) + len(Ended._fields)) + 1)
        found = self._said("run", most_bytes, updates=updates, seconds=seconds)
        came = {f"losses/{name}" for name in self._losses} | {f"ended/{name}" for name in Ended._fields}
        if found.keys() != came | {"seconds"}:
            raise TwinProblemError(OTHER_FORM)
        count = len(found["losses/total"]) if found["losses/total"].ndim else 0
        if not 1 <= count <= updates:
            raise TwinProblemError(OTHER_FORM)
        losses = {name: _floats(found, f"losses/{name}", count) for name in self._losses}
        ended = _ended({name: found[f"ended/{name}"] for name in Ended._fields}, count)
        if not all(np.isfinite(values).all() for values in losses.values()):
            raise LearnError(
                "the losses of an update are not finite: the model pays or shows numbers too large to learn from; "
                "what was trained before is kept."
            )
        seconds = float(_floats(found, "seconds", 1)[0])
        if not 0 < seconds < inf:
            raise TwinProblemError(OTHER_FORM)
        self._made += count
        rows = [{name: float(values[place]) for name, values in losses.items()} for place in range(count)]
        return Lot(rows, [results for results, _ in ended], [cut for _, cut in ended], seconds)

    def state(self) -> Any:
        """Returns where the training stands, as arrays of the shapes that it must have.

        Raises:
            LearnError: its parameters, or what their optimiser remembers, are no finite numbers.
        """
        try:
            found = checkpoint.state_of(self._said("state", self._state_bytes), self.shapes, "what the process told")
        except CheckpointError:
            raise TwinProblemError(OTHER_FORM) from None
        if int(found.updates) != self._made:
            raise TwinProblemError(OTHER_FORM)
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(found.learner)):
            raise LearnError("the parameters are no finite numbers any more; what was trained before is kept.")
        return found

    def evaluate(self, seat: int, games: int) -> Results:
        """Plays the present policy greedily against play by chance, and returns its results at a seat."""
        seed = derive("twin evaluation", seat) & 0x7FFFFFFF
        found = self._said("evaluate", NUMBER * len(Ended._fields), seat=seat, games=games, seed=seed)
        if found.keys() != set(Ended._fields):
            raise TwinProblemError(OTHER_FORM)
        return _ended(found, 1)[0][0]

    def _said(self, function: str, most_bytes: int, **told: Any) -> dict[str, NDArray[Any]]:
        return self.asked({"function": function, **told}, {}, LEARN_S, "learned on", most_bytes)


def unknown_functions(form: TwinForm) -> dict[str, Callable[..., tuple[Any, ...]]]:
    """Returns functions of the shapes that a form tells of, for computing shapes alone."""

    def init() -> tuple[Any, ...]:
        return tuple(jnp.zeros(array.shape, array.dtype) for array in form.arrays)

    def step(*given: Any) -> tuple[Any, ...]:
        return given[:-1]

    def look(*_: Any) -> tuple[Any, ...]:
        real = (len(form.outcomes),), (form.num_players,), (form.num_players, form.width)
        return jnp.zeros((), jnp.int32), jnp.zeros(len(form.actions), bool), *map(jnp.zeros, real)

    return {"init": init, "step": step, "look": look}


def _floats(found: Mapping[str, NDArray[Any]], name: str, count: int) -> NDArray[np.float32]:
    values = found[name]
    if values.dtype != np.float32 or values.shape != (count,):
        raise TwinProblemError(OTHER_FORM)
    return values


def _ended(found: Mapping[str, NDArray[Any]], count: int) -> list[tuple[Results, int]]:
    """Returns results, and how many games were cut, of sums over games."""
    totals = _floats(found, "total", count)
    if (found["games"] == STUCK).any():
        raise TwinProblemError(NEVER_MOVES)
    for name in ("games", "wins", "losses", "cut"):
        values = found[name]
        if values.dtype != np.int32 or values.shape != (count,) or (values < 0).any():
            raise TwinProblemError(OTHER_FORM)
    if not np.isfinite(totals).all():
        raise TwinProblemError("the games on the twin pay what are no finite numbers")
    if (found["wins"].astype(np.int64) + found["losses"] > found["games"]).any():
        raise TwinProblemError(OTHER_FORM)
    rows = []
    for place in range(count):
        games = int(found["games"][place])
        shares = [float(found[name][place]) / (games or 1) for name in ("wins", "losses", "total")]
        rows.append((Results(games, *shares), int(found["cut"][place])))
    return rows
