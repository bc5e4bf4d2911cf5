"""A trained policy at the table: it is shown its own view at its own decision points, like every agent.

Its network was trained on a view at every step of the game, also when others act. Those in between are rebuilt from
what its own views tell (`games.batched.game.TableReader`) and fed to its memory in order.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from arena.agents.api import AgentFailure, Move, Needs, Turn
from arena.agents.specs import AgentSpec, AgentSpecError
from arena.agents.thought import of_policy
from arena.checkpoints import on_game, places
from arena.checkpoints.on_game import LearnedPolicy
from arena.machine.runtime import Runtime
from games.api import Action, GameInfo, Observation
from games.batched import registry
from games.batched.game import TableReader
from search.learn.api import Memory, Params
from search.learn.errors import CheckpointError, LearnError
from search.learn.networks.config import GRAPHS


@dataclass(frozen=True)
class PlayedPolicy:
    """A policy as one game plays it.

    Attributes:
        policy: the network.
        table: reads the game at the table.
        step: (memory, observation without leading axes) -> (memory, logits float32 [N]), compiled.
        actions: number of every action.
    """

    policy: LearnedPolicy
    table: TableReader
    step: Callable[[Memory, Any], tuple[Memory, jax.Array]]
    actions: dict[Action, int]

    def observe(self, view: Observation) -> Any:
        """Returns a view as the network reads it: an image, or a graph."""
        if self.policy.network.config.encoder in GRAPHS:
            return self.table.graph(view)
        return self.table.image(view)


def resolve(spec: AgentSpec, info: GameInfo) -> AgentSpec:
    """Returns an `ippo` agent with the view that its checkpoint was trained on and the hash of its content.

    Args:
        spec: as it was asked for.
        info: of the game that is to be played.

    Raises:
        AgentSpecError: there is no such checkpoint, it is damaged, or it was trained on another game.
    """
    try:
        folder = on_game.find(spec.model or "", info.id)
        policy, content = on_game.load(folder), on_game.content_hash(folder)
    except LearnError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error
    if policy.game != info.id:
        raise AgentSpecError(
            f"agent {spec.name!r}: its checkpoint was trained on {policy.game}, the game is {info.id}."
        )
    return replace(spec, view=policy.view, model_hash=content)


def build(spec: AgentSpec, info: GameInfo, runtime: Runtime) -> "GamePolicyAgent":
    """Builds an agent that `resolve` returned; it runs no program, so that no limits matter to it.

    Raises:
        AgentSpecError: the checkpoint cannot be read any more, or changed since it was resolved.
    """
    try:
        folder = on_game.find(spec.model or "", info.id)
        content = on_game.content_hash(folder)
        spec.check_unchanged(content, f"the checkpoint in {folder}")
        return GamePolicyAgent(_played(folder, content), spec.name, spec.greedy)
    except LearnError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error


@lru_cache(maxsize=places.MOST_POLICIES)
def _played(folder: Path, content: str) -> PlayedPolicy:
    """Returns a policy ready to play; one of the same content is compiled once a process."""
    policy = on_game.load(folder)
    network, table = policy.network, registry.table_of(policy.game)
    if table is None:
        raise CheckpointError(f"{policy.game} cannot be read at the table: its policies play in batches alone.")
    params = jax.tree.map(jax.numpy.asarray, policy.params)

    @jax.jit
    def step(params: Params, memory: Memory, observation: Any) -> tuple[Memory, jax.Array]:
        alone = jax.tree.map(lambda leaf: leaf[None, None], observation)
        memory, outputs = network.apply(params, memory, alone, jax.numpy.zeros((1, 1), bool))
        return memory, outputs.logits[0, 0]

    actions = {action: number for number, action in enumerate(table.actions)}
    return PlayedPolicy(policy, table, partial(step, params), actions)


class GamePolicyAgent:
    """A trained policy that plays one seat."""

    needs = Needs(legal_actions=True)

    def __init__(self, played: PlayedPolicy, name: str, greedy: bool = False) -> None:
        """Sets the agent up.

        Args:
            played: the policy.
            name: label in tables.
            greedy: play the likeliest action instead of drawing one.
        """
        self.name = name
        self.view = played.policy.view
        self._played = played
        self._greedy = greedy
        self._steps = 0
        self._memory: Memory = self._fresh_memory()

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        own = self._played.policy.about.get("seat")
        if own not in (None, seat):
            raise AgentFailure("empty", f"the network was trained for agent {own}, not for agent {seat}.")
        self._steps = 0
        self._memory = self._fresh_memory()

    def act(self, turn: Turn) -> Move:
        """Chooses an action; every random choice derives from the turn's seed.

        Raises:
            GameError: the history is not that of all own decision points of this game.
        """
        played = self._played
        history = [view for view, _ in turn.history]
        views = played.table.views(history, self.view, self._steps)
        said = [self._read(view) for view in views][-1]
        numbers = [played.actions[action] for action in turn.legal_actions]
        place = greedy(said, numbers) if self._greedy else drawn(said, numbers, turn.seed)
        thought = of_policy(turn.legal_actions, weights(said, numbers)) if turn.explain else None
        return Move(turn.legal_actions[place], thought=thought)

    def close(self) -> None:
        pass

    def _read(self, view: Observation) -> NDArray[np.float32]:
        """Shows the network one step more, and returns its logits, float32 [N]."""
        self._memory, logits = self._played.step(self._memory, self._played.observe(view))
        self._steps += 1
        return np.asarray(logits)

    def _fresh_memory(self) -> Memory:
        return self._played.policy.network.initial_memory(1)


def greedy(logits: NDArray[np.float32], legal: list[int]) -> int:
    """Returns the place in `legal` of the likeliest of these actions; of several, the lowest-numbered one's."""
    return max(range(len(legal)), key=lambda place: (logits[legal[place]], -legal[place]))


def drawn(logits: NDArray[np.float32], legal: list[int], seed: int) -> int:
    """Returns a place in `legal`, drawn with the probabilities that the logits give to these actions."""
    return random.Random(seed).choices(range(len(legal)), _likelihoods(logits, legal).tolist())[0]


def weights(logits: NDArray[np.float32], legal: list[int]) -> list[float]:
    """Returns the probabilities that the logits give to these actions, in this order, summing to 1."""
    likely = _likelihoods(logits, legal)
    shares: list[float] = (likely / likely.sum()).tolist()
    return shares


def _likelihoods(logits: NDArray[np.float32], legal: list[int]) -> NDArray[np.float64]:
    chosen = logits[legal].astype(np.float64)
    likely: NDArray[np.float64] = np.exp(chosen - chosen.max())
    return likely
