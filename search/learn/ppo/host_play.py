"""Games that are stepped outside of JAX, in another process say, and playing on in them with the current policy."""

import time
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from search.learn import masked_categorical
from search.learn.api import Array, Memory, Network, Params

Numbers: TypeAlias = Any
"""An array of NumPy's, or of JAX's inside a compiled function."""


class Arrived(Protocol):
    """Where E games stand: each at a decision of the learner.

    Attributes:
        observations: float32 [E, W].
        legal: bool [E, N].
        rewards: float32 [E], paid since the learner's last action.
        ended: bool [E], whether the game ended with that action; the decision is then the first of the next one.
        cut: bool [E], whether it ended for reasons that are none of the game's: nothing is learned from its end.
    """

    @property
    def observations(self) -> Numbers: ...
    @property
    def legal(self) -> Numbers: ...
    @property
    def rewards(self) -> Numbers: ...
    @property
    def ended(self) -> Numbers: ...
    @property
    def cut(self) -> Numbers: ...


class HostGames(Protocol):
    """E games side by side, one learner in each."""

    def step(self, choices: npt.NDArray[np.int32]) -> Arrived:
        """Plays one action in every game, int32 [E], and returns the learner's next decisions."""
        ...


class PlayedSteps(NamedTuple):
    """T steps of E games, time-major.

    Attributes:
        observation: float32 [T, E, W].
        starts: bool [T, E], the step is the first of its game.
        legal: bool [T, E, N].
        action: int32 [T, E].
        log_probability: float32 [T, E].
        value: float32 [T, E].
        reward: float32 [T, E].
        done: bool [T, E].
        cut: bool [T, E].
    """

    observation: Numbers
    starts: Numbers
    legal: Numbers
    action: Numbers
    log_probability: Numbers
    value: Numbers
    reward: Numbers
    done: Numbers
    cut: Numbers


class Choice(NamedTuple):
    """What the policy does at one step of every game; leaves [E, ...]."""

    memory: Memory
    action: Array
    log_probability: Array
    value: Array


class HostPolicy:
    """A network that chooses actions in games outside of JAX, compiled once.

    Attributes:
        network: whose.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self._judged = jax.jit(self._asked)
        self._sampled = jax.jit(self._sample)
        self._greedy = jax.jit(self._take_likeliest)

    def sample(
        self, params: Params, memory: Memory, observation: Numbers, starts: Numbers, legal: Numbers, key: Array
    ) -> Choice:
        """Draws an action for each game.

        Args:
            params: of the network.
            memory: before the step.
            observation: float32 [E, W].
            starts: bool [E].
            legal: bool [E, N].
            key: typed key [].
        """
        found: Choice = self._sampled(params, memory, observation, starts, legal, key)
        return found

    def greedy(self, params: Params, memory: Memory, observation: Numbers, starts: Numbers, legal: Numbers) -> Choice:
        """Takes the likeliest action of each game; see `sample`."""
        found: Choice = self._greedy(params, memory, observation, starts, legal)
        return found

    def judged(self, params: Params, memory: Memory, observation: Numbers, starts: Numbers) -> tuple[Array, Array]:
        """Returns logits, float32 [E, N], and values, float32 [E], of decisions; see `sample`."""
        _, logits, value = self._judged(params, memory, observation, starts)
        return logits, value

    def _asked(self, params: Params, memory: Memory, observation: Array, starts: Array) -> tuple[Memory, Array, Array]:
        memory, outputs = self.network.apply(params, memory, observation[None], starts[None])
        return memory, outputs.logits[0], outputs.values[0]

    def _sample(
        self, params: Params, memory: Memory, observation: Array, starts: Array, legal: Array, key: Array
    ) -> Choice:
        memory, logits, value = self._asked(params, memory, observation, starts)
        action = masked_categorical.sample(key, logits, legal)
        return Choice(memory, action, masked_categorical.log_probability(logits, legal, action), value)

    def _take_likeliest(
        self, params: Params, memory: Memory, observation: Array, starts: Array, legal: Array
    ) -> Choice:
        memory, logits, value = self._asked(params, memory, observation, starts)
        action = masked_categorical.greedy(logits, legal)
        return Choice(memory, action, masked_categorical.log_probability(logits, legal, action), value)


class Standing(NamedTuple):
    """Where play stands between two rollouts.

    Attributes:
        memory: of E games.
        starts: bool [E].
        key: typed key [], of everything drawn from here on.
    """

    memory: Memory
    starts: Array
    key: Array


def begin(network: Network, games: int, key: Array) -> Standing:
    """Returns where E games stand that have just begun."""
    return Standing(network.initial_memory(games), jnp.ones(games, bool), key)


class Rollout(NamedTuple):
    """What came of T steps.

    Attributes:
        played: the steps.
        standing: after them.
        arrived: the decisions that come next.
        games_s: seconds that the games took.
    """

    played: PlayedSteps
    standing: Standing
    arrived: Arrived
    games_s: float


def rollout(
    policy: HostPolicy, params: Params, games: HostGames, arrived: Arrived, standing: Standing, steps: int
) -> Rollout:
    """Plays T steps with a policy.

    Args:
        policy: plays.
        params: of its network.
        games: stand where `arrived` says.
        arrived: the present decisions.
        standing: memory and key.
        steps: T.
    """
    memory, starts = standing.memory, np.asarray(standing.starts)
    following, *keys = jax.random.split(standing.key, steps + 1)
    rows: list[tuple[Numbers, ...]] = []
    games_s = 0.0
    for key in keys:
        choice = policy.sample(params, memory, arrived.observations, starts, arrived.legal, key)
        memory = choice.memory
        action = np.asarray(choice.action)
        began = time.perf_counter()
        after = games.step(action)
        games_s += time.perf_counter() - began
        told = np.asarray(choice.log_probability), np.asarray(choice.value)
        rows.append((arrived.observations, starts, arrived.legal, action, *told, after.rewards, after.ended, after.cut))
        arrived, starts = after, after.ended
    played = PlayedSteps(*(np.stack(column) for column in zip(*rows, strict=True)))
    return Rollout(played, Standing(memory, jnp.asarray(starts), following), arrived, games_s)
