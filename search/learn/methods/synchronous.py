"""Learners side by side, each of which plays with another one as that one is now: levels of reasoning, self-play.

Synchronous k-level reasoning (Cui et al., "K-level reasoning for zero-shot coordination in Hanabi", 2021): level 1
plays with a uniformly random co-player, every further level with the one below, and all of them learn at once.
Independent self-play is the same with other pairs: a learner plays with itself, or, where agents differ, with that of
the other agent. In a game of two agents who differ every learner has a seat of its own.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from games.batched.api import BatchedEnv
from search.learn.api import Array, Network, Params
from search.learn.errors import PpoConfigError
from search.learn.methods.best_response import DrawnNetwork, OwnReturn, against
from search.learn.networks.heads.uniform import UniformPolicy
from search.learn.play import several_policies
from search.learn.ppo import rollout
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.training import Trainer, TrainingState, UpdateReport

RANDOM: Final = -1
"""In place of a learner: the uniformly random co-player."""
TWO: Final = 2


class Side(NamedTuple):
    """One learner.

    Attributes:
        name: e.g. `level 2` or `run 0 of agent 1`.
        faces: number of the learner that it plays with, or `RANDOM`.
        seat: its own; None: drawn for every game.
    """

    name: str
    faces: int
    seat: int | None = None


def k_level(levels: int, agents: int = 1) -> tuple[Side, ...]:
    """Returns levels 1 to `levels`, in a game whose agents are alike (1) or differ (2): those of agent 0 first."""
    if agents == 1:
        return tuple(Side(f"level {level + 1}", level - 1 if level else RANDOM) for level in range(levels))
    return tuple(
        Side(f"level {level + 1} of agent {seat}", (1 - seat) * levels + level - 1 if level else RANDOM, seat)
        for seat in range(agents)
        for level in range(levels)
    )


def self_play(runs: int, agents: int = 1) -> tuple[Side, ...]:
    """Returns independent runs of self-play, in a game whose agents are alike (1) or differ (2)."""
    if agents == 1:
        return tuple(Side(f"run {run}", run) for run in range(runs))
    return tuple(
        Side(f"run {run} of agent {seat}", (1 - seat) * runs + run, seat)
        for seat in range(agents)
        for run in range(runs)
    )


class Company(NamedTuple):
    """What one learner plays with: parameters of a network, how likely that and the random co-player are, its seat."""

    params: Params
    shares: Array
    seat: Array


class SynchronousTrainer:
    """PPO for several learners at once, as compiled functions; states have an axis of learners."""

    def __init__(self, env: BatchedEnv[Any], network: Network, config: PpoConfig, sides: Sequence[Side]) -> None:
        """Sets up a training.

        Args:
            env: the game, of two players.
            network: of every learner.
            config: its settings.
            sides: the learners.

        Raises:
            PpoConfigError: the game has more players.
        """
        if env.num_players != TWO:
            raise PpoConfigError(f"levels and self-play by pairs need a game of 2 players, not of {env.num_players}.")
        self._env, self._network, self._sides = env, network, tuple(sides)
        self._members = [DrawnNetwork(network), DrawnNetwork(UniformPolicy(env.num_actions))]
        self._is_drawn = sides[0].seat is None
        self._trainer = Trainer(self._game, network, config)
        self._begin = jax.jit(lambda key, company: self._trainer.begin(company, key))
        self._compiled = jax.jit(self._run, static_argnums=1, donate_argnums=0)

    def _game(self, company: Company) -> OwnReturn:
        members = list(zip(self._members, (company.params, {}), strict=True))
        return against(self._env, members, None if self._is_drawn else company.seat, company.shares)

    def init(self, seeds: Sequence[int]) -> TrainingState:
        """Returns the state before the first update; a seed for every learner.

        Raises:
            PpoConfigError: the lanes cannot be shared out over the minibatches.
        """
        config = self._trainer.config
        config.check_lanes(config.environments * config.pieces)
        example = jax.eval_shape(lambda: self._seen_first())
        shapes = jax.eval_shape(self._network.init, jax.random.key(0), example)
        params = jax.tree.map(lambda leaf: jnp.zeros((len(self._sides), *leaf.shape), leaf.dtype), shapes)
        company = self._companies(params)
        # One after another: see `search.learn.play.seeds.begun`.
        own = [jax.tree.map(lambda leaf, at=at: leaf[at], company) for at in range(len(self._sides))]
        states = [self._begin(jax.random.key(seed), one) for seed, one in zip(seeds, own, strict=True)]
        stacked: TrainingState = several_policies.stacked(states)
        return stacked

    def _seen_first(self) -> Any:
        seen = rollout.observe(self._env, self._env.init(jax.random.key(0)[None]))
        return jax.tree.map(lambda leaf: leaf[None], seen)

    def run(self, state: TrainingState, updates: int) -> tuple[TrainingState, UpdateReport]:
        """Returns the state after more updates, and what each came to, [learners, updates].

        Args:
            state: as `init` or `run` returned it; its arrays are used up.
            updates: how many; every other number is compiled anew.
        """
        ended, reports = self._compiled(state, updates)
        return ended, reports

    def _run(self, state: TrainingState, updates: int) -> tuple[TrainingState, UpdateReport]:
        def together(state: TrainingState, _: None) -> tuple[TrainingState, UpdateReport]:
            return jax.vmap(self._trainer.update)(state, self._companies(state.learner.params))

        ended, reports = jax.lax.scan(together, state, None, updates)
        return ended, jax.tree.map(lambda leaf: leaf.swapaxes(0, 1), reports)

    def _companies(self, params: Params) -> Company:
        """Returns what every learner plays with, leaves [learners, ...], given the parameters of all."""
        faces = jnp.array([side.faces for side in self._sides])
        is_random = faces == RANDOM
        shares = jnp.stack([~is_random, is_random], axis=-1).astype(jnp.float32)
        seats = jnp.array([side.seat or 0 for side in self._sides], jnp.int32)
        return Company(jax.tree.map(lambda leaf: leaf[jnp.maximum(faces, 0)], params), shares, seats)
