"""Training a belief on self-play of a policy, or of uniformly random players (`UniformPolicy`)."""

from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from games.batched.api import BatchedEnv
from games.batched.wrappers import AutoReset
from search.learn import masked_categorical
from search.learn.api import Array, Memory, Network, Observation, Params
from search.learn.beliefs.belief_model import BeliefModel, CrossEntropy
from search.learn.beliefs.hidden import HiddenSlots
from search.learn.errors import OffBeliefError
from search.learn.play.seeds import begun
from search.learn.ppo import rollout
from search.learn.ppo.rollout import MakeEnv, Runner, by_game, by_lane, consult
from search.learn.ranges import is_positive, is_whole


@dataclass(frozen=True)
class BeliefTrainingConfig:
    """Settings of a belief's training.

    Attributes:
        total_steps: environment steps of the whole training.
        environments: games at once, E.
        steps: steps of every game between updates, T.
        epochs: passes over the steps of an update.
        minibatches: parts of a pass; sequences are not cut, lanes are shared out.
        learning_rate: of Adam.
        max_grad_norm: gradients of a larger norm are scaled down to it.
    """

    total_steps: int = 50_000_000
    environments: int = 256
    steps: int = 128
    epochs: int = 1
    minibatches: int = 4
    learning_rate: float = 3e-4
    max_grad_norm: float = 0.5

    def __post_init__(self) -> None:
        for name in ("total_steps", "environments", "steps", "epochs", "minibatches"):
            if not is_whole(getattr(self, name), 1):
                raise OffBeliefError(f"a belief's {name} is {getattr(self, name)}: expected a whole number from 1 on.")
        for name in ("learning_rate", "max_grad_norm"):
            if not is_positive(getattr(self, name)):
                raise OffBeliefError(f"a belief's {name} is {getattr(self, name)}: expected a number above 0.")
        if self.updates < 1:
            raise OffBeliefError(
                f"a belief's total_steps is {self.total_steps}, less than one update of {self.environments} "
                f"environments × {self.steps} steps: train longer, or take fewer of them."
            )

    @property
    def updates(self) -> int:
        """Updates of the whole training, of whole rollouts alone."""
        return self.total_steps // (self.environments * self.steps)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "BeliefTrainingConfig":
        """Builds a configuration; keys that a newer version wrote are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


class Positions(NamedTuple):
    """What players saw, and what was so; time-major.

    Attributes:
        observation: leaves [T, L, ...].
        starts: bool [T, L].
        known: int32 [T, L, S].
        truth: int32 [T, L, S].
    """

    observation: Observation
    starts: Array
    known: Array
    truth: Array


class BeliefState(NamedTuple):
    """All that training carries; with several seeds, every leaf has a leading axis of them.

    Attributes:
        params: of the belief.
        optimiser: its state.
        memory: of the belief, leaves [L, ...].
        runner: where play stands.
        updates: int32 [], done so far.
        key: typed key [], of the updates from here on.
    """

    params: Params
    optimiser: Any
    memory: Memory
    runner: Runner
    updates: Array
    key: Array


class BeliefTrainer:
    """Trains a belief, compiled; several seeds side by side.

    Attributes:
        belief: what is trained.
        config: its settings.
    """

    def __init__(
        self,
        make_env: MakeEnv,
        hidden: HiddenSlots,
        policy: Network,
        belief: BeliefModel,
        config: BeliefTrainingConfig,
        dealt_at_once: int | None = 64,
    ) -> None:
        """Sets up a training.

        Args:
            make_env: builds the environment from the context that `run` is given.
            hidden: what the environment hides.
            policy: of all players.
            belief: what is trained.
            config: its settings.
            dealt_at_once: see `AutoReset`.
        """
        self.belief = belief
        self.config = config
        self._make_env = make_env
        self._hidden = hidden
        self._policy = policy
        self._dealt_at_once = dealt_at_once
        steps = optax.adam(config.learning_rate)
        self._optimiser = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), steps)
        self._compiled = jax.jit(self._run, static_argnums=3, donate_argnums=0)

    def init(self, seeds: list[int], context: Any = ()) -> BeliefState:
        """Returns the state before the first update, every leaf with a leading axis of seeds.

        Raises:
            OffBeliefError: the lanes cannot be shared out over the minibatches.
        """
        lanes = self.config.environments * self._make_env(context).num_players
        if lanes % self.config.minibatches:
            raise OffBeliefError(
                f"{lanes} sequences (environments × players) cannot be shared out over {self.config.minibatches} "
                "minibatches: choose numbers that divide."
            )
        return begun(partial(self._begin, context), seeds)

    def _begin(self, context: Any, key: Array) -> BeliefState:
        env = self._make_env(context)
        weights, games, following = jax.random.split(key, 3)
        runner = rollout.begin(env, self._policy, self.config.environments, games)
        example = jax.tree.map(lambda leaf: leaf[None], rollout.observe(env, runner.games))
        params = self.belief.init(weights, example)
        memory = self.belief.initial_memory(runner.starts.shape[0])
        optimiser = self._optimiser.init(params)
        return BeliefState(params, optimiser, memory, runner, jnp.zeros((), jnp.int32), following)

    def run(
        self, state: BeliefState, policy_params: Params, updates: int, context: Any = ()
    ) -> tuple[BeliefState, CrossEntropy]:
        """Returns the state after more updates, and the cross-entropy in the first pass of each, [seeds, updates].

        Args:
            state: as `init` or `run` returned it; its arrays are used up.
            policy_params: of the players, the same for all seeds; they are not changed.
            updates: how many; every other number is compiled anew.
            context: what the environment is built from.
        """
        ended, reports = self._compiled(state, policy_params, context, updates)
        return ended, reports

    def _run(
        self, state: BeliefState, policy_params: Params, context: Any, updates: int
    ) -> tuple[BeliefState, CrossEntropy]:
        env = self._make_env(context)

        def update(state: BeliefState, _: None) -> tuple[BeliefState, CrossEntropy]:
            return self._update(env, policy_params, state)

        return jax.vmap(lambda state: jax.lax.scan(update, state, None, updates))(state)

    def _update(
        self, env: BatchedEnv[Any], policy_params: Params, state: BeliefState
    ) -> tuple[BeliefState, CrossEntropy]:
        following, order = jax.random.split(state.key)
        runner, played = self._play(env, policy_params, state.runner)
        lanes = played.starts.shape[1]

        def loss(params: Params, memory: Memory, played: Positions) -> tuple[Array, CrossEntropy]:
            _, features = self.belief.read(params, memory, played.observation, played.starts)
            found = self.belief.cross_entropy(params, features, played.known, played.truth)
            return found.per_slot, found

        def minibatch(learner: tuple[Params, Any], chosen: Array) -> tuple[tuple[Params, Any], CrossEntropy]:
            params, optimiser = learner
            memory = jax.tree.map(lambda leaf: leaf[chosen], state.memory)
            part = jax.tree.map(lambda leaf: leaf[:, chosen], played)
            slope, found = jax.grad(loss, has_aux=True)(params, memory, part)
            change, optimiser = self._optimiser.update(slope, optimiser, params)
            return (optax.apply_updates(params, change), optimiser), found

        def epoch(learner: tuple[Params, Any], key: Array) -> tuple[tuple[Params, Any], CrossEntropy]:
            order = jax.random.permutation(key, lanes).reshape(self.config.minibatches, -1)
            return jax.lax.scan(minibatch, learner, order)

        keys = jax.random.split(order, self.config.epochs)
        (params, optimiser), found = jax.lax.scan(epoch, (state.params, state.optimiser), keys)
        memory, _ = self.belief.read(params, state.memory, played.observation, played.starts)
        report = jax.tree.map(lambda leaf: leaf[0].sum(), found)
        return BeliefState(params, optimiser, memory, runner, state.updates + 1, following), report

    def _play(self, env: BatchedEnv[Any], params: Params, runner: Runner) -> tuple[Runner, Positions]:
        resetting = AutoReset(env, self._dealt_at_once)
        players = env.num_players
        environments = runner.starts.shape[0] // players

        def step(runner: Runner, _: None) -> tuple[Runner, Positions]:
            following, choose, deal = jax.random.split(runner.key, 3)
            policy, seen = consult(self._policy, params, env, runner.games, runner.memory, runner.starts)
            actions = by_game(masked_categorical.sample(choose, policy.logits, policy.legal), players)
            known = by_lane(self._hidden.known(runner.games))
            truth = jnp.repeat(self._hidden.truth(runner.games), players, axis=0)
            games, paid = resetting.step(runner.games, actions, jax.random.split(deal, environments))
            done = jnp.repeat(paid.done, players)
            return Runner(games, policy.memory, done, following), Positions(seen, runner.starts, known, truth)

        return jax.lax.scan(step, runner, None, self.config.steps)
