"""How the other agents act: policies on private histories, and what they come to, remembered by history."""

import itertools
import math
from bisect import bisect
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from games.api import Action
from games.posg.api import Observation, PolicyOnHistory, PosgError, PosgHistory, PosgModel, ValueOnHistory
from search.posg.steps import Seen, own, room

Memory: TypeAlias = Any
"""What a policy keeps of an agent's own history; policies whose memories are hashable are asked less often."""

TOLERANCE: Final = 1e-6
"""Probabilities of actions sum to 1 within this."""
MOST_REMEMBERED: Final = 200_000
"""Memories kept of one policy."""
SOFTENING: Final = 0.25
"""Share of random actions of a policy that is softened."""


class OtherPolicy(Protocol):
    """How an agent acts, given what it saw and did: pure functions of a memory."""

    def start(self, agent: int) -> Memory:
        """Returns the memory of an agent before it was told anything."""
        ...

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        """Returns the memory after an action (None: the agent has not acted) and what was told then."""
        ...

    def probabilities(self, memory: Memory, legal: Sequence[Action]) -> Sequence[float]:
        """Returns a probability for each of `legal`, in their order, summing to 1."""
        ...


@runtime_checkable
class ValuesMemory(Protocol):
    """A policy that knows what it is worth."""

    def value(self, memory: Memory) -> float | None:
        """Returns the discounted return that the agent may expect from now on; None: unknown."""
        ...


class Uniform:
    """Acts uniformly at random."""

    def start(self, agent: int) -> Memory:
        return None

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        return None

    def probabilities(self, memory: Memory, legal: Sequence[Action]) -> Sequence[float]:
        return [1.0 / len(legal)] * len(legal)


class Softened:
    """Acts by another policy, but at random now and then."""

    def __init__(self, policy: OtherPolicy, share: float = SOFTENING) -> None:
        """Args:
        policy: the other one.
        share: of random actions.
        """
        self._policy = policy
        self._share = share

    def start(self, agent: int) -> Memory:
        return self._policy.start(agent)

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        return self._policy.update(memory, action, observation)

    def probabilities(self, memory: Memory, legal: Sequence[Action]) -> Sequence[float]:
        even = self._share / len(legal)
        return [(1.0 - self._share) * chance + even for chance in self._policy.probabilities(memory, legal)]


class OnHistory:
    """Acts by the policy prior of a model, and knows its values where the model has them."""

    def __init__(self, model: PosgModel) -> None:
        """Raises:
        PosgError: the model has no policy.
        """
        if not isinstance(model, PolicyOnHistory):
            raise PosgError(f"{model.info.id} has no policy on histories: name other types.")
        self._policy = model.policy
        self._value = model.value if isinstance(model, ValueOnHistory) else None

    def start(self, agent: int) -> Memory:
        return agent, ()

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        agent, history = memory
        done = () if not history else (*history[:-1], (history[-1][0], action))
        return agent, (*done, (observation, None))

    def probabilities(self, memory: Memory, legal: Sequence[Action]) -> Sequence[float]:
        return self._policy(memory[1], legal, memory[0])

    def value(self, memory: Memory) -> float | None:
        return None if self._value is None else self._value(memory[1], memory[0])


class FromFunction:
    """Acts by a function of the private history: `(history, legal, agent) -> probabilities`."""

    def __init__(self, policy: Callable[[PosgHistory, Sequence[Action], int], Sequence[float]]) -> None:
        self._policy = policy

    def start(self, agent: int) -> Memory:
        return agent, ()

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        agent, history = memory
        done = () if not history else (*history[:-1], (history[-1][0], action))
        return agent, (*done, (observation, None))

    def probabilities(self, memory: Memory, legal: Sequence[Action]) -> Sequence[float]:
        return self._policy(memory[1], legal, memory[0])


class Mind:
    """What one agent knows and how it acts, by one policy.

    Attributes:
        memory: the policy's own.
        legal: what the agent may do.
        actions: those of positive probability.
        chances: their probabilities.
        sums: cumulative probabilities without the last; None: there is one action.
        after: minds that it became, by (action, what was seen).
    """

    __slots__ = ("actions", "after", "chances", "legal", "memory", "sums")

    def __init__(self, memory: Memory, legal: Sequence[Action], chances: Sequence[float]) -> None:
        self.memory = memory
        self.legal = legal
        self.plays(chances)
        self.after: dict[tuple[Action | None, Seen], Mind] = {}

    def plays(self, chances: Sequence[float]) -> None:
        """Sets how likely the agent is to play each of `legal`."""
        positive = [(action, chance) for action, chance in zip(self.legal, chances, strict=True) if chance > 0.0]
        self.actions = [action for action, _ in positive]
        self.chances = [chance for _, chance in positive]
        self.sums = None if len(positive) == 1 else list(accumulate(self.chances))[:-1]

    def act(self, uniform: Callable[[], float]) -> Action:
        """Draws an action."""
        if self.sums is None:
            return self.actions[0]
        return self.actions[bisect(self.sums, uniform())]

    def chance(self, action: Action) -> float:
        """Returns how likely the agent is to act so."""
        return self.chances[self.actions.index(action)] if action in self.actions else 0.0


class Minds:
    """The minds of one agent by one policy, one for each private history, or for each memory if it is hashable."""

    def __init__(self, name: str, policy: OtherPolicy, agent: int, most: int = MOST_REMEMBERED) -> None:
        """Args:
        name: of the policy, for errors.
        policy: how the agent acts.
        agent: whose minds these are.
        most: minds that are kept, of small observations; of large ones fewer (see `room`).

        Raises:
            PosgError: the policy is not for this agent.
        """
        policy.start(agent)  # a policy that is not for this agent says so before a game
        self.name = name
        self.agent = agent
        self._policy = policy
        self._value = policy if isinstance(policy, ValuesMemory) else None
        self._most = most
        self._kept = 0
        self._first: dict[tuple[Seen, Sequence[Action]], Mind] = {}
        self._by_memory: dict[Hashable, Mind] = {}

    def first(self, seen: Seen, legal: Sequence[Action]) -> Mind:
        """Returns the mind of the agent after its first observation."""
        key = seen, tuple(legal)
        mind = self._first.get(key)
        if mind is None:
            memory = self._policy.update(self._policy.start(self.agent), None, own(seen))
            mind = self._first[key] = self._mind(memory, key[1], seen)
        return mind

    def after(self, mind: Mind, action: Action, seen: Seen, legal: Sequence[Action]) -> Mind:
        """Returns what a mind becomes; what it became before stands in `Mind.after`."""
        if seen is None:  # the game is over for the agent
            return mind
        memory = self._policy.update(mind.memory, action, own(seen))
        later = self._mind(memory, tuple(legal), seen)
        if self._kept < self._most:
            mind.after[action, seen] = later
        return later

    def value(self, mind: Mind) -> float | None:
        """Returns what the policy expects from now on; None: it does not know."""
        return None if self._value is None else self._value.value(mind.memory)

    def forget(self) -> None:
        """Lets go of minds, if there are many: what is in use stays."""
        if self._kept >= self._most:
            self._kept = 0
            for mind in itertools.chain(self._by_memory.values(), self._first.values()):
                mind.after.clear()
            self._by_memory.clear()
            self._first.clear()

    def _mind(self, memory: Memory, legal: Sequence[Action], seen: Seen) -> Mind:
        try:
            found = self._by_memory.get((memory, legal))
        except TypeError:  # the memory is not hashable: minds are found by history alone
            self._kept += room(seen)
            return self._made(memory, legal)
        if found is None:
            found = self._made(memory, legal)
            self._kept += room(seen)
            if self._kept <= self._most:
                self._by_memory[memory, legal] = found
        return found

    def _made(self, memory: Memory, legal: Sequence[Action]) -> Mind:
        if len(legal) == 1:
            return Mind(memory, legal, (1.0,))
        given = self._policy.probabilities(memory, legal)
        try:
            chances = [float(chance) for chance in given]
        except (TypeError, ValueError):
            chances = []
        wrong = len(chances) != len(legal) or not all(chance >= 0.0 for chance in chances)
        if wrong or abs(math.fsum(chances) - 1.0) > TOLERANCE:
            raise PosgError(
                f"the policy {self.name!r} gives {given!r} for {', '.join(legal)}; expected one probability for "
                "each, summing to 1."
            )
        return Mind(memory, legal, chances)
