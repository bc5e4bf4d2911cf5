"""The parent's end of the process in which agents learn on a twin: what is asked, and a check of what leaves it."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from arena.training_on_models.results import Results
from arena.training_on_twins.learning import SeatLearner, SeatState, SeatTask
from arena.training_on_twins.seats import Ended
from cwm.storage.keys import derive
from cwm.twins.compiled import TwinProcess
from cwm.twins.form import TwinForm
from cwm.twins.traced import TracedTwin, TwinProblemError
from search.learn import checkpoint
from search.learn.errors import CheckpointError, LearnError
from search.learn.ppo.losses import Losses

SERVED: Final = "arena.training_on_twins.served"
LEARN_S: Final = 1800.0
"""After so many seconds without an answer a training has failed; compiling is part of the first one."""
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


class LearningTwin(TwinProcess):
    """A twin and what learns on it, in a process that is shut in; a context manager.

    Args:
        traced: the twin.
        task: what is learned.
        others: parameters of a fixed policy, by name; {} for none.

    Raises:
        TwinProblemError: the twin is not allowed, or not compiled within its limits.
        SandboxUnavailableError: the process cannot be locked.
    """

    def __init__(
        self, traced: TracedTwin, task: SeatTask, others: Mapping[str, NDArray[np.float32]] | None = None
    ) -> None:
        self.task = task
        given = dict(others or {})
        # Only shapes are computed here: of arrays that are as the form says, whatever the twin's functions do.
        learner = SeatLearner(traced.form, unknown_functions(traced.form), task)
        nested = checkpoint.nested(given) if given else ()
        self.shapes: SeatState = jax.eval_shape(learner.begin, np.uint32(0), np.int32(0), nested)
        super().__init__(SERVED, traced, {"task": task.to_json()}, given)

    def begin(self, seat: int, seed: int) -> None:
        """Begins a training.

        Args:
            seat: of the learner.
            seed: of its parameters and all choices.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time; so in all that follows.
        """
        self._said("begin", seat=seat, seed=derive("twin games", seed) & 0xFFFFFFFF)

    def resume(self, state: SeatState) -> None:
        """Goes on with a training where it stood."""
        self.asked({"function": "resume"}, checkpoint.arrays_of(state), LEARN_S, "given a training")

    def run(self, updates: int, seconds: float) -> Lot:
        """Makes at least one update.

        Args:
            updates: at most so many.
            seconds: after which no further one is begun.

        Raises:
            LearnError: what it learns from cannot be learned.
        """
        found = self._said("run", updates=updates, seconds=seconds)
        came = {f"{part}/{name}" for part, kind in (("losses", Losses), ("ended", Ended)) for name in kind._fields}
        if found.keys() != came | {"seconds"}:
            raise TwinProblemError(OTHER_FORM)
        count = len(found["losses/total"]) if found["losses/total"].ndim else 0
        if not 1 <= count <= updates:
            raise TwinProblemError(OTHER_FORM)
        losses = {name: _floats(found, f"losses/{name}", count) for name in Losses._fields}
        ended = _ended({name: found[f"ended/{name}"] for name in Ended._fields}, count)
        if not all(np.isfinite(values).all() for values in losses.values()):
            raise LearnError(
                "the losses of an update are not finite: the model pays or shows numbers too large to learn from; "
                "what was trained before is kept."
            )
        seconds = float(_floats(found, "seconds", 1)[0])
        rows = [{name: float(values[place]) for name, values in losses.items()} for place in range(count)]
        return Lot(rows, [results for results, _ in ended], [cut for _, cut in ended], seconds)

    def state(self) -> SeatState:
        """Returns where the training stands, as arrays of the shapes that it must have.

        Raises:
            LearnError: its parameters are no finite numbers.
        """
        try:
            found: SeatState = checkpoint.state_of(self._said("state"), self.shapes, "what the process told")
        except CheckpointError:
            raise TwinProblemError(OTHER_FORM) from None
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(found.learner.params)):
            raise LearnError("the parameters are no finite numbers any more; what was trained before is kept.")
        return found

    def evaluate(self, seat: int, games: int) -> Results:
        """Plays the present policy greedily against play by chance, and returns its results at a seat."""
        seed = derive("twin evaluation", seat) & 0x7FFFFFFF
        found = self._said("evaluate", seat=seat, games=games, seed=seed)
        if found.keys() != set(Ended._fields):
            raise TwinProblemError(OTHER_FORM)
        return _ended(found, 1)[0][0]

    def _said(self, function: str, **told: Any) -> dict[str, NDArray[Any]]:
        return self.asked({"function": function, **told}, {}, LEARN_S, "learned on")


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
    for name in ("games", "wins", "losses", "cut"):
        values = found[name]
        if values.dtype != np.int32 or values.shape != (count,) or (values < 0).any():
            raise TwinProblemError(OTHER_FORM)
    if not np.isfinite(totals).all():
        raise TwinProblemError("the games on the twin pay what are no finite numbers")
    rows = []
    for place in range(count):
        games = int(found["games"][place])
        shares = [float(found[name][place]) / (games or 1) for name in ("wins", "losses", "total")]
        rows.append((Results(games, *shares), int(found["cut"][place])))
    return rows
