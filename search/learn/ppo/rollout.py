"""Playing on with the current policy and keeping what an update needs.

A *lane* of the learner is one player of one game: L = E · P, game by game, player by player.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from games.batched.api import BatchedEnv
from games.batched.wrappers import AutoReset, Episodes, add_episodes, no_episodes
from search.learn import masked_categorical
from search.learn.api import Array, Memory, Network, Observation, Params
from search.learn.play.seats import deciding
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.returns import advantages


class Runner(NamedTuple):
    """Where play stands between two updates.

    Attributes:
        games: state of the E games.
        memory: of the L lanes.
        starts: bool [L]: the lane's next step is the first of its episode.
        key: typed key [], of everything drawn from here on.
    """

    games: Any
    memory: Memory
    starts: Array
    key: Array


class Batch(NamedTuple):
    """What was played, time-major, with what the update aims at.

    Attributes:
        memory: leaves [L, ...], before the first step.
        observation: leaves [T, L, ...].
        starts: bool [T, L].
        legal: bool [T, L, N].
        action: int32 [T, L].
        log_probability: float32 [T, L], under the policy that played.
        value: float32 [T, L], as estimated then.
        advantage: float32 [T, L].
        target: float32 [T, L], what the critic is to learn.
        judged: bool [T, L], steps that have an advantage and a target; the others teach nothing. None for all.
        deciders: int32 [T, E], the one player of each game that had a choice: the policy learns from its steps alone,
            and games stay together in minibatches. None where several players may have one.
    """

    memory: Memory
    observation: Observation
    starts: Array
    legal: Array
    action: Array
    log_probability: Array
    value: Array
    advantage: Array
    target: Array
    judged: Array | None = None
    deciders: Array | None = None


class Progress(NamedTuple):
    """How far training has come, as the collector is told.

    Attributes:
        shaping: float32 [], coefficient of the shaping reward.
    """

    shaping: Array


Collector: TypeAlias = Callable[[Params, Runner, Any, Progress], tuple[Runner, Batch, Episodes]]
"""Plays T steps: (params, runner, context, progress) -> (runner, batch, finished games)."""
MakeEnv: TypeAlias = Callable[[Any], BatchedEnv[Any]]
"""Builds the environment from a context, a tree of arrays that may change between updates (() for none)."""


def by_lane(array: Array) -> Array:
    """Returns an array [E, P, ...] as [E * P, ...]."""
    return array.reshape(-1, *array.shape[2:])


def by_game(array: Array, players: int) -> Array:
    """Returns an array [E * P, ...] as [E, P, ...]."""
    return array.reshape(-1, players, *array.shape[1:])


def observe(env: BatchedEnv[Any], games: Any) -> Observation:
    """Returns what every lane sees, leaves [L, ...]."""
    return jax.tree.map(by_lane, env.observe(games))


def begin(env: BatchedEnv[Any], network: Network, environments: int, key: Array) -> Runner:
    """Returns fresh games with empty memories."""
    deal, following = jax.random.split(key)
    lanes = environments * env.num_players
    return Runner(
        games=env.init(jax.random.split(deal, environments)),
        memory=network.initial_memory(lanes),
        starts=jnp.ones(lanes, bool),
        key=following,
    )


class Consulted(NamedTuple):
    """What the network says of one step of every lane; leaves [L, ...]."""

    memory: Memory
    legal: Array
    logits: Array
    value: Array


def consult(
    network: Network, params: Params, env: BatchedEnv[Any], games: Any, memory: Memory, starts: Array
) -> tuple[Consulted, Observation]:
    """Asks the network about the present step of every lane, and returns what it was shown, leaves [L, ...]."""
    seen = observe(env, games)
    legal = by_lane(env.legal_mask(games))
    memory, outputs = network.apply(params, memory, jax.tree.map(lambda leaf: leaf[None], seen), starts[None])
    return Consulted(memory, legal, outputs.logits[0], outputs.values[0]), seen


def cut(batch: Batch, memories: Memory, config: PpoConfig, players: int) -> Batch:
    """Returns sequences as pieces of `bptt_steps`, lanes of their own: game by game, piece by piece, player by player.

    Args:
        batch: of sequences of `steps` steps.
        memories: before every step, leaves [T, L, ...]; not read where nothing is cut.
        config: how long a piece is.
        players: P.
    """
    if not config.bptt_steps:
        return batch

    def one(leaf: Array, each: int) -> Array:
        pieces = leaf.reshape(config.pieces, config.bptt_steps, -1, each, *leaf.shape[2:])
        lanes = jnp.moveaxis(pieces, 0, 2)
        return lanes.reshape(config.bptt_steps, -1, *leaf.shape[2:])

    deciders = None if batch.deciders is None else one(batch.deciders, 1)
    kept = batch._replace(memory=memories, deciders=None)
    kept = Batch(*jax.tree.map(lambda leaf: one(leaf, players), tuple(kept)))
    return kept._replace(memory=jax.tree.map(lambda leaf: leaf[0], kept.memory), deciders=deciders)


def collector(
    make_env: MakeEnv,
    network: Network,
    config: PpoConfig,
    dealt_at_once: int | None = 64,
    one_decides: bool = False,
) -> Collector:
    """Returns the collector of plain self-play: every player is the learner, advantages by GAE.

    Args:
        make_env: builds the environment.
        network: the learner's.
        config: steps, γ, λ.
        dealt_at_once: see `AutoReset`.
        one_decides: whether at most one player of a game has a choice at a time; logits of the others are then not
            computed when the network learns.
    """

    def collect(params: Params, runner: Runner, context: Any, progress: Progress) -> tuple[Runner, Batch, Episodes]:
        env = make_env(context)
        resetting = AutoReset(env, dealt_at_once)
        players = env.num_players
        environments = runner.starts.shape[0] // players

        def step(carry: tuple[Runner, Episodes], _: None) -> tuple[tuple[Runner, Episodes], tuple[Any, ...]]:
            runner, episodes = carry
            following, choose, deal = jax.random.split(runner.key, 3)
            policy, seen = consult(network, params, env, runner.games, runner.memory, runner.starts)
            action = masked_categorical.sample(choose, policy.logits, policy.legal)
            taken = masked_categorical.log_probability(policy.logits, policy.legal, action)
            keys = jax.random.split(deal, environments)
            games, paid = resetting.step(runner.games, by_game(action, players), keys)
            episodes = add_episodes(episodes, paid.done, paid.outcome)
            reward = by_lane(paid.reward + progress.shaping * paid.info["shaping"])
            done = jnp.repeat(paid.done, players)
            memory = runner.memory if config.bptt_steps else ()
            kept = seen, runner.starts, policy.legal, action, taken, policy.value, reward, done, memory
            return (Runner(games, policy.memory, done, following), episodes), kept

        (ended, episodes), kept = jax.lax.scan(step, (runner, no_episodes(env)), None, config.steps)
        seen, starts, legal, action, taken, value, reward, done, memories = kept
        after, _ = consult(network, params, env, ended.games, ended.memory, ended.starts)
        advantage, target = advantages(reward, value, done, after.value, config.discount, config.gae_decay)
        batch = Batch(runner.memory, seen, starts, legal, action, taken, value, advantage, target)
        if one_decides:
            by_player = legal.reshape(config.steps, environments, players, -1)
            batch = batch._replace(deciders=jax.vmap(deciding)(by_player)[0])
        return ended, cut(batch, memories, config, players), episodes

    return collect
