"""Training whose games begin where pairs of the policies have been: PPO with a new buffer after given updates."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from games.batched.api import Array, BatchedEnv
from search.learn.api import Network
from search.learn.methods import state_buffer
from search.learn.methods.state_buffer import BufferedStarts, StateBuffer
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.ppo import Learner
from search.learn.ppo.training import Trainer, TrainingState, UpdateReport


class AugmentedState(NamedTuple):
    """A training, and where its games begin.

    Attributes:
        training: of all policies.
        buffer: shared by them.
    """

    training: TrainingState
    buffer: StateBuffer

    @property
    def learner(self) -> Learner:
        return self.training.learner

    @property
    def updates(self) -> Array:
        return self.training.updates


class AugmentedTrainer:
    """State-augmented self-play of several policies, as compiled functions."""

    def __init__(
        self,
        env: BatchedEnv[Any],
        network: Network,
        config: PpoConfig,
        seeds: Sequence[int],
        begins: frozenset[int],
        rollouts: int,
        steps: int,
        one_decides: bool,
        devices: int = 1,
    ) -> None:
        """Sets up a training.

        Args:
            env: the game.
            network: of all policies.
            config: settings.
            seeds: of the policies.
            begins: after which updates a buffer is filled.
            rollouts: games of every ordered pair of policies, whose states are kept then.
            steps: of each of these games at most.
            one_decides: see `Trainer`.
            devices: accelerators that share the games.
        """
        self.begins = begins
        self._seeds = tuple(seeds)
        self._trainer = Trainer(
            lambda buffer: BufferedStarts(env, buffer), network, config, devices=devices, one_decides=one_decides
        )
        room = state_buffer.capacity(len(seeds), rollouts, steps)
        self._empty = partial(state_buffer.empty, env, room)
        self._fill = jax.jit(lambda policies, key: state_buffer.fill(env, network, policies, rollouts, steps, key))

    def init(self) -> AugmentedState:
        """Returns the state before the first update, with an empty buffer."""
        return AugmentedState(self._trainer.init(list(self._seeds), self._empty()), self._empty())

    def run(self, state: AugmentedState, updates: int) -> tuple[AugmentedState, UpdateReport]:
        """Returns the state after more updates, and what each came to, [seeds, updates].

        Args:
            state: its arrays but for the buffer are used up.
            updates: must not go on beyond the start of an iteration.
        """
        training, buffer = state
        done = int(np.asarray(training.updates).reshape(-1)[0])
        if done in self.begins:
            buffer = self._fill(training.learner.params, self._key(done))
        training, report = self._trainer.run(training, updates, buffer)
        return AugmentedState(training, buffer), report

    def _key(self, done: int) -> Any:
        key = jax.random.key(done)
        for seed in self._seeds:
            key = jax.random.fold_in(key, seed)
        return key
