"""PPO for an agent at one seat of games that are stepped outside of JAX (the CWM paper, appendix D.1)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from search.learn.api import Array, Network
from search.learn.ppo import host_play, ppo
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.host_play import Arrived, HostGames, HostPolicy, Numbers, PlayedSteps, Rollout, Standing
from search.learn.ppo.losses import Losses
from search.learn.ppo.ppo import Learner
from search.learn.ppo.returns import advantages
from search.learn.ppo.rollout import Batch


class HostState(NamedTuple):
    """All that training carries beside the games.

    Attributes:
        learner: parameters and optimiser.
        standing: where play stands.
        updates: int32 [], done so far.
        key: typed key [], of the updates from here on.
    """

    learner: Learner
    standing: Standing
    updates: Array
    key: Array


class HostTrainer:
    """Alternates rollouts in games with compiled updates.

    Attributes:
        network: the learner's.
        config: its settings; the learner has one lane in each of E games.
        policy: what plays.
    """

    def __init__(self, network: Network, config: PpoConfig) -> None:
        """Sets up a training.

        Raises:
            PpoConfigError: the games cannot be shared out over the minibatches.
        """
        config.check_lanes(config.environments)
        self.network = network
        self.config = config
        self.policy = HostPolicy(network)
        self._learn = jax.jit(self._update)
        self._init = jax.jit(network.init)

    def init(self, seed: int, width: int) -> HostState:
        """Returns the state before the first update.

        Args:
            seed: of parameters and of all choices.
            width: W, of an observation.
        """
        weights, play, following = jax.random.split(jax.random.key(seed), 3)
        example = jnp.zeros((1, self.config.environments, width), jnp.float32)
        params = self._init(weights, example)
        learner = Learner(params, ppo.optimiser(self.config).init(params))
        standing = host_play.begin(self.network, self.config.environments, play)
        return HostState(learner, standing, jnp.zeros((), jnp.int32), following)

    def play(self, state: HostState, games: HostGames, arrived: Arrived) -> Rollout:
        """Plays T steps with the present policy."""
        params = state.learner.params
        return host_play.rollout(self.policy, params, games, arrived, state.standing, self.config.steps)

    def learn(self, state: HostState, rollout: Rollout) -> tuple[HostState, Losses]:
        """Updates the policy by what was played; returns the state after it, and the mean losses."""
        learner, key, found = self._learn(
            state, rollout.played, rollout.standing, rollout.arrived.observations, state.updates
        )
        return HostState(learner, rollout.standing, state.updates + 1, key), found

    def _update(
        self, state: HostState, played: PlayedSteps, after: Standing, seen: Numbers, updates: Array
    ) -> tuple[Learner, Array, Losses]:
        following, order = jax.random.split(state.key)
        observation = jnp.asarray(seen)[None]
        _, outputs = self.network.apply(state.learner.params, after.memory, observation, after.starts[None])
        # A game that was cut for no reason of its own counts as if it had gone on as the critic expected.
        reward = jnp.where(played.cut, played.value, played.reward)
        advantage, target = advantages(
            reward, played.value, played.done, outputs.values[0], self.config.discount, self.config.gae_decay
        )
        batch = Batch(
            memory=state.standing.memory,
            observation=played.observation,
            starts=played.starts,
            legal=played.legal,
            action=played.action,
            log_probability=played.log_probability,
            value=played.value,
            advantage=advantage,
            target=target,
            judged=~played.cut,
        )
        batch = jax.tree.map(jnp.asarray, batch)
        entropy = ppo.annealed_entropy(self.config, updates)
        learner, found = ppo.update(state.learner, self.network, batch, self.config, entropy, order)
        return learner, following, found
