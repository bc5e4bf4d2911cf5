"""The whole loop under one compilation: play, learn, play on; several seeds side by side, over several devices."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from games.batched.wrappers import DEALT_AT_ONCE, Episodes
from search.learn.api import Array, Network
from search.learn.errors import PpoConfigError
from search.learn.play.seeds import begun
from search.learn.ppo import ppo, rollout
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.losses import Losses
from search.learn.ppo.ppo import Learner
from search.learn.ppo.rollout import Collector, MakeEnv, Progress, Runner

LANES = "lanes"
"""Name of the mesh's axis."""


class TrainingState(NamedTuple):
    """All that training carries; with several seeds, every leaf has a leading axis of them.

    Attributes:
        learner: parameters and optimiser.
        runner: where play stands.
        updates: int32 [], done so far.
        key: typed key [], of the updates from here on.
    """

    learner: Learner
    runner: Runner
    updates: Array
    key: Array


class UpdateReport(NamedTuple):
    """What one update came to; with several seeds, leading axes [seeds, updates].

    Attributes:
        losses: means over the minibatches.
        episodes: sums over the games that ended in the update's rollout.
        shaping: float32 [], coefficient of the shaping reward.
        entropy_coefficient: float32 [].
    """

    losses: Losses
    episodes: Episodes
    shaping: Array
    entropy_coefficient: Array


class Trainer:
    """PPO on a batched environment, as compiled functions.

    Attributes:
        network: the learner's.
        config: its settings.
    """

    def __init__(
        self,
        make_env: MakeEnv,
        network: Network,
        config: PpoConfig,
        collect: Collector | None = None,
        devices: int = 1,
        one_decides: bool = False,
        shares: int | None = None,
    ) -> None:
        """Sets up a training.

        Args:
            make_env: builds the environment from the context that `run` is given.
            network: the learner's.
            config: its settings.
            collect: how games are played and advantages taken; default: self-play with GAE.
            devices: accelerators that share the games. Where they are several, a `collect` of your own must deal
                with `dealt_at_once=None`: a loop whose length depends on all lanes would have them wait for each other.
            one_decides: see `rollout.collector`; of self-play alone.
            shares: see `ppo.update`; default: one for each device. With as many, one device learns what several learn.

        Raises:
            PpoConfigError: there are not so many devices, the games cannot be shared out over them, or `one_decides` or
                `bptt_steps` is said of games that a `collect` plays.
        """
        _check_devices(devices, config)
        if one_decides and collect is not None:
            raise PpoConfigError("one_decides is of self-play alone: leave it out, or leave out collect.")
        if config.bptt_steps and collect is not None:
            raise PpoConfigError("bptt_steps is of plain rollouts alone: leave it out, or leave out collect.")
        self.network = network
        self.config = config
        self._make_env = make_env
        self._one_decides = one_decides
        self._shares = devices if shares is None else shares
        dealt_at_once = DEALT_AT_ONCE if devices == 1 else None
        self._collect = collect or rollout.collector(make_env, network, config, dealt_at_once, one_decides)
        self._mesh = Mesh(jax.devices()[:devices], (LANES,)) if devices > 1 else None
        self._compiled = jax.jit(self._run, static_argnums=2, donate_argnums=0)

    def init(self, seeds: list[int], context: Any = ()) -> TrainingState:
        """Returns the state before the first update, every leaf with a leading axis of seeds.

        Raises:
            PpoConfigError: the lanes cannot be shared out over the minibatches.
        """
        players = 1 if self._one_decides else self._make_env(context).num_players
        self.config.check_lanes(self.config.environments * players * self.config.pieces, self._shares)
        return begun(partial(self.begin, context), seeds)

    def begin(self, context: Any, key: Array) -> TrainingState:
        """Returns the state of one seed before the first update; to be compiled."""
        env = self._make_env(context)
        weights, games, following = jax.random.split(key, 3)
        runner = rollout.begin(env, self.network, self.config.environments, games)
        example = jax.tree.map(lambda leaf: leaf[None], rollout.observe(env, runner.games))
        params = self.network.init(weights, example)
        learner = Learner(params, ppo.optimiser(self.config).init(params))
        return TrainingState(learner, runner, jnp.zeros((), jnp.int32), following)

    def run(self, state: TrainingState, updates: int, context: Any = ()) -> tuple[TrainingState, UpdateReport]:
        """Returns the state after more updates, and what each came to, [seeds, updates].

        Args:
            state: as `init` or `run` returned it; its arrays are used up.
            updates: how many; every other number is compiled anew.
            context: what the environment is built from.
        """
        ended, reports = self._compiled(state, context, updates)
        return ended, reports

    def lowered(self, state: TrainingState, updates: int, context: Any = ()) -> Any:
        """Returns the program of `run`, to be compiled and read.

        Args:
            state: as for `run`, or `jax.ShapeDtypeStruct`s with shardings, which say for which devices.
            updates: see `run`.
            context: see `run`.
        """
        return self._compiled.lower(state, context, updates)

    def _run(self, state: TrainingState, context: Any, updates: int) -> tuple[TrainingState, UpdateReport]:
        def many(state: TrainingState) -> tuple[TrainingState, UpdateReport]:
            return jax.lax.scan(lambda now, _: self.update(now, context), state, None, updates)

        return jax.vmap(many)(state)

    def update(self, state: TrainingState, context: Any) -> tuple[TrainingState, UpdateReport]:
        """Returns the state of one seed after one more update, and what that came to; to be compiled."""
        shaping = self._shaping(state.updates)
        entropy = ppo.annealed_entropy(self.config, state.updates)
        following, order = jax.random.split(state.key)
        runner = self._shared_out(state.runner)
        runner, batch, episodes = self._collect(state.learner.params, runner, context, Progress(shaping))
        learner, found = ppo.update(state.learner, self.network, batch, self.config, entropy, order, self._shares)
        report = UpdateReport(found, episodes, shaping, entropy)
        return TrainingState(learner, runner, state.updates + 1, following), report

    def _shaping(self, updates: Array) -> Array:
        last = self.config.updates * self.config.shaping_share
        left = jnp.maximum(last - updates, 0.0) / last if last else jnp.zeros(())
        return self.config.shaping * left

    def _shared_out(self, runner: Runner) -> Runner:
        """Spreads the lanes over the devices; what follows from them is then computed where they are."""
        mesh = self._mesh
        if mesh is None:
            return runner

        def spread(tree: Any, lanes_last: bool) -> Any:
            def one(leaf: Array) -> Array:
                axes = [None] * (leaf.ndim - 1)
                spec = PartitionSpec(*axes, LANES) if lanes_last else PartitionSpec(LANES)  # type: ignore[no-untyped-call]
                placed: Array = jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))  # type: ignore[no-untyped-call]
                return placed

            return jax.tree.map(one, tree)

        return runner._replace(
            games=spread(runner.games, True), memory=spread(runner.memory, False), starts=spread(runner.starts, False)
        )


def _check_devices(devices: int, config: PpoConfig) -> None:
    """Refuses devices that are not there or that the games cannot be shared out over."""
    known = len(jax.devices())
    if not 1 <= devices <= known:
        expected = "1" if known == 1 else f"1 to {known}"
        raise PpoConfigError(f"devices is {devices}: expected {expected}, as many as JAX finds here.")
    if config.environments % devices:
        raise PpoConfigError(
            f"{config.environments} environments cannot be shared out over {devices} devices: take a multiple of them."
        )
