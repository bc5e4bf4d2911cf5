"""What a model offers beyond the protocol is held to what it promises, and nobody is told what is not theirs."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from games.api import Action, Json, State
from games.posg.api import (
    InfersPosg,
    Joint,
    Observation,
    PolicyOnHistory,
    PosgHistory,
    PosgModel,
    ValueOnHistory,
    Vectors,
    key_of,
)
from games.posg.chance import TOLERANCE, enumerating

Hidden: TypeAlias = Callable[[State, int, random.Random], State]
"""Returns a state that differs from the given one in nothing that the agent is told, e.g. in another's hand."""
MOST_WAYS: Final = 5_000
"""Of what a resampled state may show."""


class Moment(NamedTuple):
    """One moment of a random game.

    Attributes:
        state: of the game.
        arrival: the joint action that led here, None at the start, and what chance did then.
        told: what each agent was told here.
        histories: of the agents, up to now.
        legal: what each agent may do; nothing for one who is not active.
    """

    state: State
    arrival: tuple[Joint | None, dict[str, Json]]
    told: Sequence[Observation | None]
    histories: Sequence[PosgHistory]
    legal: Sequence[Sequence[Action]]


def faults_of_offers(
    model: PosgModel, moment: Moment, hidden: Hidden | None, rng: random.Random
) -> Iterator[tuple[str, str]]:
    """Yields rule and message of what is wrong at one moment, for every agent who is to act."""
    for agent, legal in enumerate(moment.legal):
        if not legal:
            continue
        history = moment.histories[agent]
        if hidden is not None:
            yield from _leaks(model, moment, agent, hidden(moment.state, agent, rng))
        if isinstance(model, InfersPosg):
            yield from _asked("resample", _of_resample, model, moment, agent, rng)
        if isinstance(model, PolicyOnHistory):
            yield from _asked("policy", _of_policy, model, history, legal, agent)
        if isinstance(model, ValueOnHistory):
            yield from _asked("value", _of_value, model, history, agent)
        if isinstance(model, Vectors):
            yield from _asked("encode", _of_vectors, model, moment.told[agent], agent)


def _asked(what: str, question: Callable[..., Iterator[tuple[str, str]]], *arguments: Any) -> Iterator[tuple[str, str]]:
    try:
        yield from question(*arguments)
    except Exception as error:
        yield f"{what} raises", f"{what} raised {type(error).__name__}: {error}"


def _leaks(model: PosgModel, moment: Moment, agent: int, other: State) -> Iterator[tuple[str, str]]:
    """The same draws show an agent the same, whatever lies where it cannot see."""
    joint, log = moment.arrival

    def choose(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
        offered = [outcome for outcome, _ in outcomes]
        return log[label] if log.get(label) in offered else offered[0]

    shown = model.observe(other, joint, choose)[agent]
    if key_of(shown) != key_of(moment.told[agent]):
        told = (
            f"agent {agent} was told {moment.told[agent]!r}, and {shown!r} where only hidden things differ: {other!r}"
        )
        yield "an observation shows what is hidden", told
    legal = tuple(model.legal_actions(other, agent)) if agent in model.active(other) else ()
    if legal != tuple(moment.legal[agent]):
        told = f"agent {agent} may do {moment.legal[agent]}, and {legal} where only hidden things differ: {other!r}"
        yield "legal actions that an agent cannot know", told


def _of_resample(model: Any, moment: Moment, agent: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    state, others = model.resample(moment.histories[agent], agent, rng)
    legal = tuple(model.legal_actions(state, agent)) if agent in model.active(state) else ()
    if legal != tuple(moment.legal[agent]):
        yield "resample", f"agent {agent} may do {moment.legal[agent]}, but {legal} in the resampled {state!r}"
    steps = len(moment.histories[agent]) - 1
    joint = None
    if steps:
        own = moment.histories[agent][-2][1]
        chosen = [own if one is None else one[-2][1] for one in others]
        joint = tuple(
            model.info.actions[number][0] if action is None else action for number, action in enumerate(chosen)
        )
    ways = enumerating(lambda choose: model.observe(state, joint, choose), MOST_WAYS)
    if not any(key_of(told[agent]) == key_of(moment.told[agent]) for _, told in ways):
        told = f"agent {agent} was told {moment.told[agent]!r}, which the resampled {state!r} cannot show after {joint}"
        yield "resample contradicts what was seen", told


def _of_policy(
    model: PolicyOnHistory, history: PosgHistory, legal: Sequence[Action], agent: int
) -> Iterator[tuple[str, str]]:
    policy = list(model.policy(history, legal, agent))
    if len(policy) != len(legal) or min(policy) < 0.0 or abs(math.fsum(policy) - 1.0) > TOLERANCE:
        yield "policy", f"got {policy} for {list(legal)}; expected a probability for each, summing to 1"


def _of_value(model: ValueOnHistory, history: PosgHistory, agent: int) -> Iterator[tuple[str, str]]:
    value = model.value(history, agent)
    if not math.isfinite(value):
        yield "value", f"got {value!r}; expected a finite number"


def _of_vectors(model: Vectors, told: Observation, agent: int) -> Iterator[tuple[str, str]]:
    low, high = model.vector_bounds(agent)
    vector = model.encode(agent, told)
    if not len(low) == len(high) == len(vector):
        yield "encode", f"got {len(vector)} numbers for {told!r}; bounds are of {len(low)} and {len(high)}"
    elif not all(least <= value <= most for least, value, most in zip(low, vector, high, strict=True)):
        yield "encode", f"got {list(vector)} for {told!r}; bounds are {list(low)} and {list(high)}"
