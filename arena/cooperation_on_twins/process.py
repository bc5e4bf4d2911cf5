"""The parent's end of the process in which policies learn together on a twin: a check of all that leaves it."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from arena.cooperation_on_twins.environment import Renaming
from arena.cooperation_on_twins.served import ACTIONS, MEMBERS, OUTCOMES
from arena.cooperation_on_twins.task import TeamLearner, TeamState, TeamTask
from arena.training_on_twins.process import LEARN_S, OTHER_FORM, unknown_functions
from cwm.twins.compiled import TwinProcess
from cwm.twins.traced import TracedTwin, TwinProblemError
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.errors import CheckpointError, LearnError
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.training import UpdateReport

SERVED: Final = "arena.cooperation_on_twins.served"
NUMBER: Final = 4
"""Bytes of a number in an answer."""


class GamesOnTwin(NamedTuple):
    """Games of one seating.

    Attributes:
        total: float32 [G], their returns.
        length: int32 [G].
        cut: bool [G]: they were too long.
    """

    total: NDArray[np.float32]
    length: NDArray[np.int32]
    cut: NDArray[np.bool_]


class TeamProcess(TwinProcess):
    """A twin and what learns or plays on it, in a process that is shut in; a context manager.

    Args:
        traced: the twin.
        task: what is learned.
        members: of the frozen population, stacked, by name; {} for none.
        symmetries: through which players see the game; None for none.

    Raises:
        PpoConfigError: the settings do not fit together.
        TwinProblemError: the twin is not allowed, or not compiled within its limits.
        SandboxUnavailableError: the process cannot be locked.
    """

    def __init__(
        self,
        traced: TracedTwin,
        task: TeamTask,
        members: Mapping[str, NDArray[np.float32]] | None = None,
        symmetries: Renaming | None = None,
    ) -> None:
        self.task = task
        self._made = 0
        given = dict(members or {})
        # Only shapes are computed here: of arrays that are as the form says, whatever the twin's functions do.
        nested: Params = checkpoint.nested(given) if given else ()
        self._shaped = TeamLearner(traced.form, unknown_functions(traced.form), task, nested, symmetries)
        self.shapes: TeamState = jax.eval_shape(self._shaped.begin)
        arrays: dict[str, NDArray[Any]] = {f"{MEMBERS}/{name}": leaf for name, leaf in given.items()}
        if symmetries is not None:
            arrays |= {ACTIONS: symmetries.actions, OUTCOMES: symmetries.outcomes}
        super().__init__(SERVED, traced, {"task": task.to_json()}, arrays)

    def begin(self) -> TeamState:
        """Begins the training.

        Raises:
            TwinProblemError: the process ended, or gave no answer in time; so in all that follows.
            LearnError: the parameters are no finite numbers; so in `run`.
        """
        self._made = 0
        return self._state_of(self._said("begin", {}, _bytes_of(self.shapes)))

    def resume(self, state: TeamState) -> TeamState:
        """Goes on with a training where it stood."""
        self._said("resume", checkpoint.arrays_of(state), 0)
        self._made = _updates_of(state)
        return state

    def run(self, _: TeamState, updates: int) -> tuple[TeamState, UpdateReport]:
        """Makes more updates from where the process stands, which is in the state that it gave last."""
        wanted = self._shaped.report_shapes(updates)
        found = self._said("run", {}, _bytes_of(self.shapes) + _bytes_of(wanted), updates=updates)
        self._made += updates
        report: UpdateReport = _of_shapes(_part(found, "report/"), wanted)
        if (np.asarray(report.episodes.games) < 0).any() or (np.asarray(report.episodes.length) < 0).any():
            raise TwinProblemError(OTHER_FORM)
        return self._state_of(_part(found, "state/")), report

    def seat(self, policies: Sequence[tuple[NetworkConfig, Params]]) -> None:
        """Seats policies at a table, to play whole games by their numbers."""
        arrays = {
            f"{number}/{name}": leaf
            for number, (_, params) in enumerate(policies)
            for name, leaf in checkpoint.arrays_of(params).items()
        }
        self._said("seat", arrays, 0, networks=[network.to_json() for network, _ in policies])

    def play(self, seating: Sequence[int], games: int, seed: int, greedy: bool = False) -> GamesOnTwin:
        """Plays one game on each of many deals, the same whoever plays.

        Args:
            seating: number of the policy of every seat.
            games: how many.
            seed: of deals, and of what policies draw.
            greedy: take each policy's likeliest action.
        """
        told = {"seating": list(seating), "games": games, "seed": seed, "greedy": greedy}
        found = self._said("play", {}, games * (NUMBER + NUMBER + 1), **told)
        kinds = {"total": np.float32, "length": np.int32, "cut": np.bool_}
        if {name: (array.dtype, array.shape) for name, array in found.items()} != {
            name: (np.dtype(kind), (games,)) for name, kind in kinds.items()
        }:
            raise TwinProblemError(OTHER_FORM)
        if not np.isfinite(found["total"]).all():
            raise TwinProblemError("the games on the twin pay what are no finite numbers")
        return GamesOnTwin(**found)

    def _state_of(self, arrays: Mapping[str, NDArray[Any]]) -> TeamState:
        state: TeamState = _of_shapes(arrays, self.shapes)
        if (np.asarray(state.updates) != self._made).any():
            raise TwinProblemError(OTHER_FORM)
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state.learner)):
            raise LearnError("the parameters are no finite numbers any more; what was trained before is kept.")
        return state

    def _said(
        self, function: str, arrays: Mapping[str, NDArray[Any]], most_bytes: int, **told: Any
    ) -> dict[str, NDArray[Any]]:
        return self.asked({"function": function, **told}, arrays, LEARN_S, "learned on", most_bytes)


def _of_shapes(arrays: Mapping[str, NDArray[Any]], shapes: Any) -> Any:
    try:
        return checkpoint.state_of(arrays, shapes, "what the process told")
    except CheckpointError:
        raise TwinProblemError(OTHER_FORM) from None


def _part(arrays: Mapping[str, NDArray[Any]], start: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def _bytes_of(shapes: Any) -> int:
    # A key consists of numbers; more of them than any kind of key has are allowed for.
    return sum(prod(leaf.shape) * max(leaf.dtype.itemsize, NUMBER) for leaf in jax.tree.leaves(shapes))


def _updates_of(state: TeamState) -> int:
    return int(np.asarray(state.updates).reshape(-1)[0])
