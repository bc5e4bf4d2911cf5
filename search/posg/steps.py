"""Steps of a game for a search: what they come to, and how they are drawn from a model one by one.

A search sees a game through one agent, the ego. What a step comes to is a plain tuple, made once where it is kept.
"""

import random
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from games.api import Action, Json, State
from games.posg.api import (
    Choose,
    ConditionsStart,
    DescribesPosg,
    FastRollout,
    FastStep,
    Joint,
    Observation,
    PosgError,
    PosgModel,
    StepGiven,
    key_of,
)
from games.posg.chance import drawing, enumerating

WAITS: Final = "waits"

Place: TypeAlias = Any
"""A state as the search holds it: the model's own, or a `TabledState` of a table."""
Seen: TypeAlias = Any
"""What an agent was told: hashable; `Shown` where the model's own is not."""


class Outcome(NamedTuple):
    """What a step came to.

    Attributes:
        place: where it led.
        paid: the ego's reward.
        done: the game is over for the ego.
        seen: what each agent was told; None for whom the game was over before.
        key: what the ego can tell: what it was told, and whether it is to act.
    """

    place: Place
    paid: float
    done: bool
    seen: Sequence[Seen]
    key: Hashable


_NEW: Final = tuple.__new__
"""Makes a named tuple without the detour by its class's own: there is one a step."""


class Opening(NamedTuple):
    """A start: a place, what each agent is told there, and what the ego can tell."""

    place: Place
    seen: Sequence[Seen]
    key: Hashable


class Idle(tuple[Action, ...]):
    """What an agent who is not active "may do": its first action, which is ignored."""

    __slots__ = ()


class Shown:
    """A JSON observation that can be looked up."""

    __slots__ = ("_hash", "key", "value")

    def __init__(self, value: Observation) -> None:
        self.value = value
        self.key = key_of(value)
        self._hash = hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown) and self.key == other.key


def own(seen: Seen) -> Observation:
    """Returns an observation as the model made it."""
    return seen.value if type(seen) is Shown else seen


def room(seen: Seen) -> int:
    """Returns about how much memory what was seen takes, a small observation being 1."""
    return 1 + _values(seen.value) // 2 if isinstance(seen, Shown) else 1


def _values(value: Json) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_values, value.values()))
    return 1 + sum(map(_values, value)) if isinstance(value, list) else 1


def as_seen(observation: Observation) -> Seen:
    """Returns an observation of the model's own as a search holds it."""
    return Shown(observation) if isinstance(observation, list | dict) else observation


class Steps(Protocol):
    """The steps of one game, for one ego."""

    model: PosgModel
    ego: int

    def begin(self, rng: random.Random) -> None:
        """Sets where chance is drawn from."""
        ...

    def legal(self, place: Place, agent: int) -> Sequence[Action]:
        """Returns what an agent may do; for one who is not active, `Idle`."""
        ...

    def step(self, place: Place, joint: Joint) -> Outcome: ...

    def glide(self, place: Place, joint: Joint) -> tuple[Place, float, bool, Sequence[Seen]]:
        """Draws a step as `step` does, and returns all of it but its key."""
        ...

    def rollout(self, place: Place, limit: int, discount: float) -> float:
        """Returns the ego's discounted return in at most `limit` further steps, all acting uniformly at random."""
        ...

    def ways(self, place: Place, joint: Joint, limit: int) -> Sequence[tuple[float, Outcome]] | None:
        """Returns every way in which a step ends, with probabilities; None: there are more than `limit`."""
        ...

    def opening(self) -> Opening: ...

    def openings(self, limit: int) -> Sequence[tuple[float, Opening]] | None:
        """Returns every start, with probabilities; None: there are more than `limit`."""
        ...

    def opening_given(self, observation: Observation) -> Opening | None:
        """Returns a start drawn given what the ego is told; None: the model cannot draw so, or there is none."""
        ...

    @property
    def draws_given(self) -> bool:
        """Whether the model draws a step given what the ego is told."""
        ...

    def step_given(self, place: Place, joint: Joint, observation: Observation) -> tuple[float, Outcome] | None:
        """Returns a step that shows the ego `observation`, and its likelihood (`StepGiven`); None: impossible."""
        ...

    def key(self, place: Place) -> Hashable:
        """Returns something that is equal for equal states."""
        ...

    def place(self, state: State) -> Place: ...

    def state(self, place: Place) -> State: ...


class DrawnSteps:
    """Steps drawn from the model one by one; a place is the model's own state."""

    def __init__(self, model: PosgModel, ego: int) -> None:
        self.model = model
        self.ego = ego
        self._legal_actions = model.legal_actions
        self._hashable = isinstance(model, DescribesPosg)
        self._fast = model if isinstance(model, FastStep) else None
        self._rollout = model if isinstance(model, FastRollout) else None
        self._conditions = model if isinstance(model, ConditionsStart) else None
        self._given = model if isinstance(model, StepGiven) else None
        self._idle = tuple(Idle(actions[:1]) for actions in model.info.actions)
        self.begin(random.Random(0))

    def begin(self, rng: random.Random) -> None:
        self._rng = rng
        self._uniform = rng.random
        self._choose = drawing(rng)

    def legal(self, place: Place, agent: int) -> Sequence[Action]:
        return self._legal_actions(place, agent) or self._idle[agent]

    def step(self, place: Place, joint: Joint) -> Outcome:
        fast = self._fast
        if fast is not None:
            after, rewards, over = fast.sample_step(place, joint, self._rng)
            told = fast.sample_observations(after, joint, self._rng)
        else:
            after, rewards, over = self.model.move(place, joint, self._choose)
            told = self.model.observe(after, joint, self._choose)
        return self._outcome(after, rewards, over, told)

    def glide(self, place: Place, joint: Joint) -> tuple[Place, float, bool, Sequence[Seen]]:
        fast, ego = self._fast, self.ego
        if fast is None or not self._hashable:
            return self.step(place, joint)[:4]
        after, rewards, over = fast.sample_step(place, joint, self._rng)
        return after, rewards[ego], over[ego], fast.sample_observations(after, joint, self._rng)

    def rollout(self, place: Place, limit: int, discount: float) -> float:
        if self._rollout is not None:
            return self._rollout.rollout(place, self.ego, self._rng, limit, discount)
        model, ego, uniform, fast = self.model, self.ego, self._uniform, self._fast
        total, factor = 0.0, 1.0
        joint = [actions[0] for actions in self._idle]
        active = model.active(place)
        while limit > 0 and active:
            for agent in active:
                legal = model.legal_actions(place, agent)
                joint[agent] = legal[int(uniform() * len(legal))]
            if fast is not None:
                place, rewards, over = fast.sample_step(place, tuple(joint), self._rng)
            else:
                place, rewards, over = model.move(place, tuple(joint), self._choose)
            total += factor * rewards[ego]
            if over[ego]:
                break
            factor *= discount
            limit -= 1
            active = model.active(place)
        return total

    def ways(self, place: Place, joint: Joint, limit: int) -> Sequence[tuple[float, Outcome]] | None:
        model = self.model

        def run(choose: Choose) -> Outcome:
            after, rewards, over = model.move(place, joint, choose)
            return self._outcome(after, rewards, over, model.observe(after, joint, choose))

        ways = [(branch.probability, outcome) for branch, outcome in islice(enumerating(run), limit + 1)]
        return ways if len(ways) <= limit else None

    def opening(self) -> Opening:
        state = self.model.initial_state(self._choose)
        return self._opening(state, self.model.observe(state, None, self._choose))

    def openings(self, limit: int) -> Sequence[tuple[float, Opening]] | None:
        model = self.model

        def run(choose: Choose) -> Opening:
            state = model.initial_state(choose)
            return self._opening(state, model.observe(state, None, choose))

        ways = [(branch.probability, opening) for branch, opening in islice(enumerating(run), limit + 1)]
        return ways if len(ways) <= limit else None

    def opening_given(self, observation: Observation) -> Opening | None:
        if self._conditions is None:
            return None
        try:
            state = self._conditions.initial_state_given(self.ego, observation, self._choose)
        except PosgError:
            return None
        seen = list(self.model.observe(state, None, self._choose))
        seen[self.ego] = observation  # drawn given this: a sensor's noise is part of it
        return self._opening(state, seen)

    @property
    def draws_given(self) -> bool:
        return self._given is not None

    def step_given(self, place: Place, joint: Joint, observation: Observation) -> tuple[float, Outcome] | None:
        if self._given is None:
            return None
        given = self._given.sample_step_given(place, joint, self.ego, observation, self._rng)
        if given is None:
            return None
        (after, rewards, over), likelihood = given
        told = list(self.model.observe(after, joint, self._choose))
        told[self.ego] = observation
        return likelihood, self._outcome(after, rewards, over, told)

    def key(self, place: Place) -> Hashable:
        return place if self._hashable else key_of(place)

    def place(self, state: State) -> Place:
        return state

    def state(self, place: Place) -> State:
        return place

    def _outcome(
        self, after: State, rewards: Sequence[float], over: Sequence[bool], told: Sequence[Observation | None]
    ) -> Outcome:
        ego = self.ego
        if not self._hashable:
            told = [Shown(one) if isinstance(one, list | dict) else one for one in told]
        key = told[ego] if self._legal_actions(after, ego) else (WAITS, told[ego])
        return _NEW(Outcome, (after, rewards[ego], over[ego], told, key))

    def _opening(self, state: State, told: Sequence[Observation | None]) -> Opening:
        outcome = self._outcome(state, (0.0,) * len(told), (False,) * len(told), told)
        return Opening(state, outcome.seen, outcome.key)
