"""The `PosgModel` protocol: agents act at the same time, and every rule is a pure function of its arguments.

A partially observable stochastic game has states, joint actions, observations on arrival and rewards for each agent.
All chance enters through a passed function, `Choose`, so that one text of the rules can be sampled, enumerated,
recorded and replayed (`games.posg.chance`). This module uses the standard library alone, because it is loaded into
sandboxed workers.

Source: Hansen, Bernstein, Zilberstein, "Dynamic programming for partially observable stochastic games" (2004); the
order of observation and action is that of POSGGym (Schwartz et al. 2025), section 2: an observation comes first.
"""

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from games.api import Action, GameError, Json, State, Utility

Observation: TypeAlias = Json
"""What one agent is told on arrival in a state: JSON, or a hashable value with `DescribesPosg`."""

Choose: TypeAlias = Callable[[str, Sequence[tuple[Json, float]]], Json]
"""The only source of chance: is given a label and (outcome, probability) pairs, and returns one of the outcomes.

Labels are unique within a start or a step and say what is drawn (`prey 2`, `growl of agent 0`); outcomes are JSON and
distinct, probabilities are positive and sum to 1.
"""

Joint: TypeAlias = tuple[Action, ...]
"""One action an agent, by agent; that of an agent who is not active is ignored."""

PosgHistory: TypeAlias = Sequence[tuple[Observation, Action | None]]
"""What one agent saw and did, oldest first, from its first observation on; the last action is None (now)."""

Moved: TypeAlias = tuple[State, Sequence[float], Sequence[bool]]
"""What a step makes: the next state, the reward of each agent, and for each agent whether the game is over for it."""


class LivedHistory(list[tuple[Observation, Action | None]]):
    """A private history (`PosgHistory`) that knows what the agent might have done.

    Attributes:
        legal: at each of its moments but the last; () where it was not active.
    """

    def __init__(self) -> None:
        super().__init__()
        self.legal: list[Sequence[Action]] = []


class PosgError(GameError):
    """A game of several agents was used wrongly, or its rules contradict themselves; the message says how."""


@dataclass(frozen=True)
class PosgInfo:
    """What is fixed about a game before it starts.

    Attributes:
        id: registry id, e.g. `tiger-2a`.
        agent_names: one name an agent, by number.
        utility: `zero_sum`, `general_sum`, `identical` (all agents are paid the same) or `win_loss_draw`.
        actions: all actions of each agent, in a fixed order.
        min_step: lower bound of an agent's reward in one step.
        max_step: upper bound of it.
        min_utility: lower bound of an agent's undiscounted return within `step_limit`.
        max_utility: upper bound of it.
        step_limit: steps after which a game is broken off; kept outside the state, since it is no rule of the game.
            None: the game ends by itself.
        discount: of rewards a step, for planners and learners; returns that are reported are undiscounted.
        symmetric: the agents may change places without a difference.
        perfect_information: every agent sees the whole state.
    """

    id: str
    agent_names: tuple[str, ...]
    utility: Utility
    actions: tuple[tuple[Action, ...], ...]
    min_step: float
    max_step: float
    min_utility: float
    max_utility: float
    step_limit: int | None
    discount: float = 0.99
    symmetric: bool = False
    perfect_information: bool = False

    @property
    def num_agents(self) -> int:
        return len(self.agent_names)


class PosgModel(Protocol):
    """The rules of a game of N agents. No method changes a state or an action that it is given."""

    @property
    def info(self) -> PosgInfo: ...

    def initial_state(self, choose: Choose) -> State:
        """Returns a state in which the game may start."""
        ...

    def active(self, state: State) -> Sequence[int]:
        """Returns the agents whose actions count in the next step, ascending; none: the game is over."""
        ...

    def legal_actions(self, state: State, agent: int) -> Sequence[Action]:
        """Returns what an active agent may do, in the order of `PosgInfo.actions`: something it can tell by itself
        from what it saw and did; for an agent who is not active, nothing."""
        ...

    def move(self, state: State, actions: Joint, choose: Choose) -> Moved:
        """Plays one step.

        Args:
            state: in which at least one agent is active.
            actions: legal ones of the active agents.
            choose: what happens by chance.

        Returns:
            The next state, rewards [N], and over [N]: whether the game is over for the agent; it stays over.
        """
        ...

    def observe(self, state: State, actions: Joint | None, choose: Choose) -> Sequence[Observation | None]:
        """Returns what each agent is told on arrival in `state`, [N]; None for one for whom the game was over before.

        Args:
            state: in which the step ended.
            actions: that led here; None at the start.
            choose: noise of sensors; labels other than those of the `move` or start before.
        """
        ...


@runtime_checkable
class DescribesPosg(Protocol):
    """A game whose states and observations are hashable values, made for speed, and not JSON."""

    def state_to_json(self, state: State) -> Json: ...

    def state_from_json(self, described: Json) -> State: ...

    def observation_to_json(self, agent: int, observation: Observation) -> Json: ...


@runtime_checkable
class FastStep(Protocol):
    """A game that samples faster than through `Choose`; equal in distribution."""

    def sample_step(self, state: State, actions: Joint, rng: random.Random) -> Moved: ...

    def sample_observations(
        self, state: State, actions: Joint | None, rng: random.Random
    ) -> Sequence[Observation | None]: ...


@runtime_checkable
class FastRollout(Protocol):
    """A game that plays uniformly random steps faster than step by step; equal in distribution."""

    def rollout(self, state: State, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        """Returns the discounted return of `agent` in at most `limit` further steps of uniformly random agents."""
        ...


@runtime_checkable
class ConditionsStart(Protocol):
    """A game that can start so that an agent is told something given."""

    def initial_state_given(self, agent: int, observation: Observation, choose: Choose) -> State:
        """Returns a state in which the game may start, drawn given the agent's first observation.

        Raises:
            PosgError: no start shows the agent that.
        """
        ...


@runtime_checkable
class StepGiven(Protocol):
    """A game whose chance has too many branches to enumerate, and that draws it given what an agent is told."""

    def sample_step_given(
        self, state: State, actions: Joint, agent: int, observation: Observation, rng: random.Random
    ) -> tuple[Moved, float] | None:
        """Returns a step after which `agent` is told `observation`, and the likelihood of that; None: impossible.

        The step is drawn from its probability given the observation, or from another one that likelihoods make up
        for: over draws, the mean of likelihood × f(step) is the sum over steps of P(step, observation) f(step).
        """
        ...


@runtime_checkable
class InfersPosg(Protocol):
    """A game with an inference function: samples what is hidden from an agent."""

    def resample(
        self, history: PosgHistory, agent: int, rng: random.Random
    ) -> tuple[State, Sequence[PosgHistory | None]]:
        """Returns a present state and the private histories of the other agents (None at `agent`), which `agent`
        cannot tell from the true ones; drawn as if the others had acted uniformly at random."""
        ...


@runtime_checkable
class PolicyOnHistory(Protocol):
    """A game with a policy prior: how a sensible agent would act, given what it saw and did."""

    def policy(self, history: PosgHistory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        """Returns a probability for each of `legal`, in their order, summing to 1."""
        ...


@runtime_checkable
class ValueOnHistory(Protocol):
    """A game with a value function on an agent's own history."""

    def value(self, history: PosgHistory, agent: int) -> float:
        """Returns the discounted return that `agent` may expect from now on."""
        ...


@runtime_checkable
class ValuesStates(Protocol):
    """A game with a value function on states."""

    def state_value(self, state: State, agent: int, steps: int) -> float:
        """Returns the discounted return that `agent` may expect in at most `steps` further steps of sensible agents."""
        ...


@runtime_checkable
class Vectors(Protocol):
    """A game that writes observations as vectors, for networks."""

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the lowest and the highest value of each place; their number is the length of the vectors."""
        ...

    def encode(self, agent: int, observation: Observation) -> Sequence[float]: ...


@runtime_checkable
class RendersPosg(Protocol):
    """A game that draws a state as text for people."""

    def render(self, state: State, agent: int | None = None) -> str:
        """Returns the whole state, or, with `agent`, no more than that agent was told."""
        ...


@runtime_checkable
class ReportsEnd(Protocol):
    """A game that can say how it ended for each agent, e.g. `crash`, `success`."""

    def ending(self, state: State) -> Mapping[str, Json]: ...


def state_to_json(model: PosgModel, state: State) -> Json:
    """Returns a state as JSON, whether the game's states are JSON already or not."""
    return model.state_to_json(state) if isinstance(model, DescribesPosg) else state


def observation_to_json(model: PosgModel, agent: int, observation: Observation | None) -> Json:
    """Returns what an agent was told as JSON; None stays None."""
    if observation is None or not isinstance(model, DescribesPosg):
        return observation
    return model.observation_to_json(agent, observation)


def key_of(observation: Observation) -> Hashable:
    """Returns something hashable that is equal for equal observations, whether these are JSON or hashable values."""
    if isinstance(observation, dict):
        return frozenset((name, key_of(value)) for name, value in observation.items())
    if isinstance(observation, (list, tuple)):
        return tuple(map(key_of, observation))
    hashable: Hashable = observation
    return hashable
