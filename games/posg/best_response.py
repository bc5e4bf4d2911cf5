"""What an agent can get at best against given co-players, exactly, and what it then believes.

An agent's information state is its own history; what it believes there is a weight for each pair of a state and what
the others remember, on which their policies depend. Everything is gone through, so this is for small games and few
steps: the truth that planners and beliefs are tested against.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from games.api import Action, State
from games.posg.api import Joint, Observation, PosgError, PosgHistory, PosgModel, key_of
from games.posg.exact import ExactModel

Policy: TypeAlias = Callable[[PosgHistory, Sequence[Action], int], Sequence[float]]
"""Probabilities of an agent's legal actions given its history, as `PolicyOnHistory.policy` gives them."""
Memory: TypeAlias = Hashable


class Remembers(Protocol):
    """How a co-player acts: on a memory that it updates, so that histories it need not tell apart are merged."""

    def start(self, agent: int, observation: Observation) -> Memory:
        """Returns the memory after the first observation."""
        ...

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        """Returns the memory after a further step; the action is None where the agent was not active."""
        ...

    def probabilities(self, memory: Memory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        """Returns a probability for each of `legal`, in their order, summing to 1."""
        ...


class AtRandom:
    """Acts uniformly at random and remembers nothing."""

    def start(self, agent: int, observation: Observation) -> Memory:
        return None

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        return None

    def probabilities(self, memory: Memory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        return [1.0 / len(legal)] * len(legal)


class Past:
    """A history that can be a memory, whatever its observations are."""

    __slots__ = ("_key", "history")

    def __init__(self, history: tuple[tuple[Observation, Action | None], ...]) -> None:
        self.history = history
        self._key = key_of(history)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Past) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(frozen=True)
class OnHistory:
    """Acts by a function of its whole history."""

    policy: Policy

    def start(self, agent: int, observation: Observation) -> Memory:
        return Past(((observation, None),))

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        assert isinstance(memory, Past)
        before, last = memory.history[:-1], memory.history[-1]
        return Past((*before, (last[0], action), (observation, None)))

    def probabilities(self, memory: Memory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        assert isinstance(memory, Past)
        return self.policy(memory.history, legal, agent)


class Hypothesis(NamedTuple):
    """What may be the case: a state, and what each agent remembers; None at the place of who believes."""

    weight: float
    state: State
    memories: tuple[Memory, ...]


class InformationState:
    """An information state: its hypotheses, whose weights sum to the probability of coming here by one's own actions.

    Attributes:
        hypotheses: what may be the case.
        mass: the sum of their weights.
    """

    def __init__(self, hypotheses: Iterable[Hypothesis]) -> None:
        merged: dict[Hashable, list[float]] = {}
        kept: dict[Hashable, Hypothesis] = {}
        for one in hypotheses:
            key = key_of(one.state), one.memories
            if key in merged:
                merged[key].append(one.weight)
            else:
                merged[key], kept[key] = [one.weight], one
        self.hypotheses = [one._replace(weight=math.fsum(merged[key])) for key, one in kept.items()]
        self.mass = math.fsum(one.weight for one in self.hypotheses)
        self.children: dict[Action | None, dict[Hashable, InformationState]] = {}
        self.value: float | None = None


class BestResponse:
    """The best play of one agent against co-players of given policies, over a number of steps."""

    def __init__(
        self,
        model: PosgModel | ExactModel,
        agent: int,
        others: Sequence[Remembers | None],
        horizon: int,
        discount: float = 1.0,
    ) -> None:
        """Makes it; nothing is computed before it is asked for.

        Args:
            model: the game; an `ExactModel` shares what it remembers.
            agent: who responds.
            others: how each agent acts; None at `agent`.
            horizon: steps that count, from the start.
            discount: of rewards a step.
        """
        self._exact = model if isinstance(model, ExactModel) else ExactModel(model)
        self._agent, self._others, self._horizon, self._discount = agent, others, horizon, discount
        self._roots: dict[Hashable, InformationState] | None = None
        missing = [number for number, other in enumerate(others) if other is None and number != agent]
        if len(others) != self._exact.model.info.num_agents or missing:
            raise PosgError(f"give one way to act for every agent but agent {agent}, and None for that one.")

    def value(self) -> float:
        """Returns the expected discounted return before anything is seen."""
        return math.fsum(self._value(node, 0) for node in self._starts().values())

    def values(self, history: PosgHistory) -> dict[Action, float]:
        """Returns what each legal action is worth after a history, with the best play from then on.

        Raises:
            PosgError: the agent cannot have that history, or it is not to act then.
        """
        node, step = self._follow(history)
        legal = self._legal(node)
        if legal == (None,):
            raise PosgError(f"agent {self._agent} is not to act after {list(history)!r}.")
        return {action: self._worth(node, step, action) / node.mass for action in legal if action is not None}

    def choice(self, history: PosgHistory) -> Action:
        """Returns the best action, the first of equals; errors as for `values`."""
        values = self.values(history)
        return max(values, key=lambda action: values[action])

    def belief(self, history: PosgHistory) -> list[Hypothesis]:
        """Returns what the agent believes after a history, weights summing to 1; errors as for `values`."""
        node, _ = self._follow(history)
        return [one._replace(weight=one.weight / node.mass) for one in node.hypotheses]

    def states(self, history: PosgHistory) -> dict[Hashable, float]:
        """Returns the probability of each state after a history, by its key; errors as for `values`."""
        found: dict[Hashable, float] = {}
        for one in self.belief(history):
            key = key_of(one.state)
            found[key] = found.get(key, 0.0) + one.weight
        return found

    def _follow(self, history: PosgHistory) -> tuple[InformationState, int]:
        nodes, node = self._starts(), None
        for step, (seen, _) in enumerate(history):
            if step:
                assert node is not None
                nodes = self._after(node, history[step - 1][1])
            node = nodes.get(key_of(seen))
            if node is None:
                raise PosgError(f"agent {self._agent} cannot see {seen!r} after {list(history[:step])!r}.")
        if node is None:
            raise PosgError(f"the history of agent {self._agent} is empty; it begins with what it first sees.")
        return node, len(history) - 1

    def _starts(self) -> dict[Hashable, InformationState]:
        if self._roots is None:
            self._roots = _nodes(
                (
                    start.observations[self._agent],
                    Hypothesis(
                        start.probability,
                        start.state,
                        tuple(
                            None if other is None else other.start(agent, start.observations[agent])
                            for agent, other in enumerate(self._others)
                        ),
                    ),
                )
                for start in self._exact.starts()
            )
        return self._roots

    def _legal(self, node: InformationState) -> tuple[Action | None, ...]:
        """Returns what the agent may do; None alone where it is not active."""
        model, state = self._exact.model, node.hypotheses[0].state
        if self._agent not in model.active(state):
            return (None,)
        return tuple(model.legal_actions(state, self._agent))

    def _value(self, node: InformationState, step: int) -> float:
        """Returns what the best play from a node is worth, times the node's mass."""
        if step >= self._horizon:
            return 0.0
        if node.value is None:
            node.value = max(self._worth(node, step, action) for action in self._legal(node))
        return node.value

    def _worth(self, node: InformationState, step: int, action: Action | None) -> float:
        """Returns what an action is worth with the best play afterwards, times the node's mass."""
        if step >= self._horizon:
            return 0.0
        paid = math.fsum(
            one.weight * chance * way.probability * way.rewards[self._agent]
            for one in node.hypotheses
            for chance, joint in self._joints(one, action)
            for way in self._exact.steps(one.state, joint)
        )
        if step + 1 == self._horizon:
            return paid
        return paid + self._discount * math.fsum(
            self._value(child, step + 1) for child in self._after(node, action).values()
        )

    def _after(self, node: InformationState, action: Action | None) -> dict[Hashable, InformationState]:
        """Returns the information states that follow, by what is seen."""
        if action not in node.children:
            node.children[action] = _nodes(self._successors(node, action))
        return node.children[action]

    def _successors(self, node: InformationState, action: Action | None) -> Iterator[tuple[Observation, Hypothesis]]:
        for one in node.hypotheses:
            active = self._exact.model.active(one.state)
            for chance, joint in self._joints(one, action):
                for way in self._exact.steps(one.state, joint):
                    if way.over[self._agent]:
                        continue
                    memories = tuple(
                        None
                        if other is None or way.observations[agent] is None
                        else other.update(memory, joint[agent] if agent in active else None, way.observations[agent])
                        for agent, (other, memory) in enumerate(zip(self._others, one.memories, strict=True))
                    )
                    weight = one.weight * chance * way.probability
                    yield way.observations[self._agent], Hypothesis(weight, way.state, memories)

    def _joints(self, one: Hypothesis, action: Action | None) -> Iterator[tuple[float, Joint]]:
        """Yields the joint actions that the others may make up with `action`, with their probabilities."""
        model = self._exact.model
        active = model.active(one.state)
        if not active:
            return
        offered: list[list[tuple[Action, float]]] = []
        for agent, actions in enumerate(model.info.actions):
            other = self._others[agent]
            if agent not in active:
                offered.append([(actions[0], 1.0)])
            elif other is None:
                offered.append([(actions[0] if action is None else action, 1.0)])
            else:
                legal = model.legal_actions(one.state, agent)
                chances = other.probabilities(one.memories[agent], legal, agent)
                offered.append([(each, chance) for each, chance in zip(legal, chances, strict=True) if chance > 0.0])
        for chosen in itertools.product(*offered):
            yield math.prod(chance for _, chance in chosen), tuple(each for each, _ in chosen)


def _nodes(found: Iterable[tuple[Observation, Hypothesis]]) -> dict[Hashable, InformationState]:
    groups: dict[Hashable, list[Hypothesis]] = {}
    for seen, hypothesis in found:
        groups.setdefault(key_of(seen), []).append(hypothesis)
    return {key: InformationState(group) for key, group in groups.items()}


def best_team_value(model: PosgModel, horizon: int, discount: float = 1.0) -> float:
    """Returns the most that two agents who are paid alike can get, by going through all plans of the second one.

    Args:
        model: a game of two agents of identical utility, few observations, and the same legal actions everywhere.
        horizon: steps that count.
        discount: of rewards a step.

    Raises:
        PosgError: the game has not two agents, or they are not paid alike.
    """
    info = model.info
    if info.num_agents != 2 or info.utility != "identical":
        raise PosgError(f"{info.id} is no game of two agents who are paid alike.")
    exact = ExactModel(model)
    alphabets = _seen_by(exact, 1, horizon)
    moments = [seen for step in range(horizon) for seen in itertools.product(*alphabets[: step + 1])]
    plans = itertools.product(info.actions[1], repeat=len(moments))
    return max(
        BestResponse(exact, 0, (None, _Planned(dict(zip(moments, plan, strict=True)))), horizon, discount).value()
        for plan in plans
    )


@dataclass(frozen=True)
class _Planned:
    """Acts by a table of what it has been told, and remembers that."""

    plan: Mapping[tuple[Hashable, ...], Action]

    def start(self, agent: int, observation: Observation) -> Memory:
        return (key_of(observation),)

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        assert isinstance(memory, tuple)
        return (*memory, key_of(observation))

    def probabilities(self, memory: Memory, legal: Sequence[Action], agent: int) -> Sequence[float]:
        assert isinstance(memory, tuple)
        return [float(action == self.plan[memory]) for action in legal]


def _seen_by(exact: ExactModel, agent: int, horizon: int) -> list[list[Hashable]]:
    """Returns by step all that an agent may be told then, whatever anybody does."""
    states = {key_of(start.state): start.state for start in exact.starts()}
    found = [sorted({key_of(start.observations[agent]) for start in exact.starts()}, key=repr)]
    for _ in range(1, horizon):
        ways = [
            way for state in states.values() for joint in _all_joints(exact, state) for way in exact.steps(state, joint)
        ]
        states = {key_of(way.state): way.state for way in ways}
        found.append(sorted({key_of(way.observations[agent]) for way in ways}, key=repr))
    return found


def _all_joints(exact: ExactModel, state: State) -> Iterator[Joint]:
    model = exact.model
    active = model.active(state)
    return itertools.product(
        *(
            model.legal_actions(state, agent) if agent in active else actions[:1]
            for agent, actions in enumerate(model.info.actions)
        )
    )
