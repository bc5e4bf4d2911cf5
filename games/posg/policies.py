"""Policies with an explicit memory: what an agent does is a function of what it remembers of its own history.

A planner that models other agents keeps very many of them at once, so a policy holds no state of its own: memories are
hashable values, equal ones behave alike, and no chance enters but where an action is drawn. A policy that "makes up its
mind at the start" remembers instead how likely each of its minds is, given what it did; that is the same behaviour.

Standard library alone: planners use it beside a model in a sandboxed worker.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from games.api import Action, Json, ObsActionHistory, State
from games.posg.api import FastStep, Observation, PosgModel
from games.posg.chance import drawing

Memory: TypeAlias = Hashable
"""What a policy remembers."""


class PosgPolicy(Protocol):
    """How one agent acts, given what it saw and did."""

    def start(self, agent: int) -> Memory:
        """Returns the memory of an agent before it is told anything."""
        ...

    def update(self, memory: Any, action: Action | None, observation: Observation) -> Memory:
        """Returns the memory after the agent did `action` (None at the start) and was told `observation` on arrival."""
        ...

    def probabilities(self, memory: Any, legal: Sequence[Action]) -> Sequence[float]:
        """Returns a probability for each of `legal`, in their order, summing to 1."""
        ...

    def act(self, memory: Any, rng: random.Random) -> Action:
        """Draws an action by its probability."""
        ...


class DrawnPolicy(ABC):
    """Base of policies that say which actions they may play: the rest follows from that."""

    @abstractmethod
    def chances(self, memory: Any) -> Mapping[Action, float]:
        """Returns the actions that the policy may play now, each with its probability above 0; they sum to 1."""

    def probabilities(self, memory: Any, legal: Sequence[Action]) -> Sequence[float]:
        """Returns a probability for each of `legal`, in their order."""
        chances = self.chances(memory)
        return [chances.get(action, 0.0) for action in legal]

    def act(self, memory: Any, rng: random.Random) -> Action:
        """Draws an action: no call of `rng` where there is one alone."""
        return drawn(self.chances(memory), rng)


class UniformPolicy(DrawnPolicy):
    """Plays each action with the same probability, whatever it is told; for games in which all are always legal."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self._uniform = dict.fromkeys(actions, 1.0 / len(actions))

    def start(self, agent: int) -> Memory:
        return None

    def update(self, memory: Memory, action: Action | None, observation: Observation) -> Memory:
        return None

    def chances(self, memory: Memory) -> Mapping[Action, float]:
        return self._uniform


def drawn(probabilities: Mapping[Action, float], rng: random.Random) -> Action:
    """Draws an action by its probability."""
    if len(probabilities) == 1:
        return next(iter(probabilities))
    left = rng.random()
    for action, probability in probabilities.items():
        left -= probability
        if left < 0.0:
            return action
    return action


def evenly(actions: Sequence[Action]) -> Mapping[Action, float]:
    """Returns the same probability for each of some actions."""
    return dict.fromkeys(actions, 1.0 / len(actions))


class PlayedPosg(NamedTuple):
    """One game that policies played.

    Attributes:
        returns: undiscounted, by agent.
        steps: that it took.
        state: in which it ended.
        is_over: the rules ended it, and not the limit of steps.
    """

    returns: tuple[float, ...]
    steps: int
    state: State
    is_over: bool


def play_policies(model: PosgModel, policies: Sequence[PosgPolicy], rng: random.Random) -> PlayedPosg:
    """Plays one game to its end or its limit of steps.

    Args:
        model: of the game; it must have a limit of steps.
        policies: one an agent.
        rng: source of all chance.

    Raises:
        ValueError: there is not one policy an agent, or the game has no limit.
    """
    info = model.info
    if len(policies) != info.num_agents or info.step_limit is None:
        raise ValueError(f"{info.id} has {info.num_agents} agents and {info.step_limit} steps: {len(policies)} given.")
    choose = drawing(rng)
    fast = model if isinstance(model, FastStep) else None
    state = model.initial_state(choose)
    seen = model.observe(state, None, choose)
    memories = [policy.update(policy.start(agent), None, seen[agent]) for agent, policy in enumerate(policies)]
    idle = [actions[0] for actions in info.actions]
    returns = [0.0] * info.num_agents
    for step in range(info.step_limit):
        active = model.active(state)
        if not active:
            return PlayedPosg(tuple(returns), step, state, True)
        chosen = list(idle)
        for agent in active:
            chosen[agent] = policies[agent].act(memories[agent], rng)
        joint = tuple(chosen)
        if fast is not None:
            state, rewards, _ = fast.sample_step(state, joint, rng)
            seen = fast.sample_observations(state, joint, rng)
        else:
            state, rewards, _ = model.move(state, joint, choose)
            seen = model.observe(state, joint, choose)
        for agent, reward in enumerate(rewards):
            returns[agent] += reward
        for agent in active:
            memories[agent] = policies[agent].update(memories[agent], joint[agent], seen[agent])
    return PlayedPosg(tuple(returns), info.step_limit, state, not model.active(state))


def at_the_table(
    policy: PosgPolicy, read: Callable[[int, Json], Observation]
) -> Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]:
    """Returns a policy as a partner of the arena, who is given its own decision points in the game of turns.

    Args:
        policy: who plays.
        read: makes an agent's observation of its JSON.
    """

    def choose(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
        agent = int(history[-1][0]["agent"])
        memory, action = policy.start(agent), None
        for shown, acted in history:
            for told in (*shown.get("missed", ()), shown["seen"]):
                memory, action = policy.update(memory, action, read(agent, told)), None
            action = acted
        return policy.act(memory, rng)

    return choose
