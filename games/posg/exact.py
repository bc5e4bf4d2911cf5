"""What a game of simultaneous moves does, exactly: every start and every step with its probability.

Standard library alone: planners use it beside a model in a sandboxed worker.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

from games.api import Json, State
from games.posg.api import Choose, Joint, Moved, Observation, PosgModel, key_of
from games.posg.chance import enumerating


class Start(NamedTuple):
    """One way in which a game starts: what chance did, where it led, and what each agent is told."""

    probability: float
    log: Mapping[str, Json]
    state: State
    observations: Sequence[Observation | None]


class Step(NamedTuple):
    """One way in which a step ends: what chance did, where it led, what it paid and what each agent is told."""

    probability: float
    log: Mapping[str, Json]
    state: State
    rewards: Sequence[float]
    over: Sequence[bool]
    observations: Sequence[Observation | None]


MOST_KEPT: Final = 200_000
"""So many ways of steps are remembered; then all are forgotten."""


class ExactModel:
    """The starts and steps of a game, gone through once and remembered."""

    def __init__(self, model: PosgModel) -> None:
        self.model = model
        self._starts: list[Start] | None = None
        self._steps: dict[tuple[Hashable, Joint], list[Step]] = {}
        self._count = 0

    def starts(self) -> Sequence[Start]:
        """Returns every start; probabilities sum to 1."""
        if self._starts is None:
            self._starts = starts(self.model)
        return self._starts

    def steps(self, state: State, joint: Joint) -> Sequence[Step]:
        """Returns every way in which a step ends; probabilities sum to 1."""
        key = key_of(state), joint
        found = self._steps.get(key)
        if found is None:
            found = steps(self.model, state, joint)
            self._count += len(found)
            if self._count > MOST_KEPT:
                self._steps, self._count = {}, len(found)
            self._steps[key] = found
        return found


def starts(model: PosgModel) -> list[Start]:
    """Returns every way in which a game starts."""

    def run(choose: Choose) -> tuple[State, Sequence[Observation | None]]:
        state = model.initial_state(choose)
        return state, model.observe(state, None, choose)

    return [Start(*branch, *result) for branch, result in enumerating(run)]


def steps(model: PosgModel, state: State, joint: Joint) -> list[Step]:
    """Returns every way in which a step ends."""

    def run(choose: Choose) -> tuple[Moved, Sequence[Observation | None]]:
        moved = model.move(state, joint, choose)
        return moved, model.observe(moved[0], joint, choose)

    return [
        Step(branch.probability, branch.log, after, rewards, over, seen)
        for branch, ((after, rewards, over), seen) in enumerating(run)
    ]
