"""One update: several passes over what was played, in minibatches of whole sequences."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from search.learn import masked_categorical
from search.learn.api import Array, Network, Params
from search.learn.play.seats import of_decider
from search.learn.ppo import losses
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.losses import Losses
from search.learn.ppo.returns import normalised
from search.learn.ppo.rollout import Batch


class Learner(NamedTuple):
    """Parameters and the optimiser's state."""

    params: Params
    optimiser: Any


def optimiser(config: PpoConfig) -> optax.GradientTransformation:
    """Returns Adam with clipped gradients and the configured learning rate."""
    changes = config.anneal_learning_rate or config.warm_up_share
    return optax.chain(
        optax.clip_by_global_norm(config.max_grad_norm),
        optax.adam(partial(learning_rate, config) if changes else config.learning_rate, eps=config.adam_epsilon),
    )


def learning_rate(config: PpoConfig, count: Array) -> Array:
    """Returns the learning rate, float32 []: by update, or with a warm-up or a cosine by minibatch.

    Args:
        config: how it rises and falls.
        count: int32 [], minibatches before this one.
    """
    each = config.epochs * config.minibatches
    if not (config.warm_up_share or config.cosine):
        left = jnp.maximum(config.updates - count // each, 0)
        return config.learning_rate * (left / config.updates)
    rising = config.updates * each * config.warm_up_share
    fallen = jnp.clip((count - rising) / max(config.updates * each - rising, 1.0), 0.0, 1.0)
    share = (1 + jnp.cos(jnp.pi * fallen)) / 2 if config.cosine else 1 - fallen
    if not config.anneal_learning_rate:
        share = jnp.ones(())
    if rising:
        share = jnp.where(count < rising, count / rising, share)
    return config.learning_rate * share


def annealed_entropy(config: PpoConfig, updates: Array) -> Array:
    """Returns α after so many updates, float32 []: it falls linearly to its end, if it has one."""
    start = jnp.asarray(config.entropy, jnp.float32)
    if config.entropy_end is None:
        return start
    return start + (config.entropy_end - start) * jnp.minimum(1.0, updates / config.updates)


def loss(
    params: Params, network: Network, batch: Batch, advantage: Array, config: PpoConfig, entropy_coefficient: Array
) -> tuple[Array, Losses]:
    """Returns the loss of sequences, with its parts.

    Args:
        params: of the network.
        network: the learner's.
        batch: T steps of some lanes.
        advantage: float32 [T, L], normalised, 0 at steps that were not judged.
        config: of the losses.
        entropy_coefficient: α now.
    """
    deciders = batch.deciders
    _, outputs = network.apply(params, batch.memory, batch.observation, batch.starts, deciders)
    decided = batch.legal, batch.action, batch.log_probability, advantage
    if deciders is not None:
        decided = jax.tree.map(lambda leaf: of_decider(leaf, deciders), decided)
    legal, action, before, advantage = decided
    log_ratio = masked_categorical.log_probability(outputs.logits, legal, action) - before
    errors = losses.value_error(outputs.values, batch.value, batch.target, config.value_clip)
    if batch.judged is not None:
        errors = jnp.where(batch.judged, errors, 0.0)
    entropies = masked_categorical.entropy(outputs.logits, legal)
    found = losses.combine(
        log_ratio, advantage, errors, entropies, config.clip, config.value_coefficient, entropy_coefficient
    )
    return found.total, found


def part_of(batch: Batch, chosen: Array) -> Batch:
    """Returns the sequences of some lanes, or of all players of some games where one of them decides at a time.

    Args:
        batch: what was played.
        chosen: int32 [S, K], K of each of S equal shares of the lanes, or games, counted from the share's first.
    """
    deciders = None
    if batch.deciders is not None:
        deciders = _of_each_share(batch.deciders, chosen)
        players = batch.starts.shape[1] // batch.deciders.shape[1]
        chosen = (chosen[:, :, None] * players + jnp.arange(players)).reshape(len(chosen), -1)
    memory = jax.tree.map(lambda leaf: _of_each_share(leaf[None], chosen)[0], batch.memory)
    sequences = {name: value for name, value in batch._asdict().items() if name not in ("memory", "deciders")}
    chosen_ones = jax.tree.map(lambda leaf: _of_each_share(leaf, chosen), sequences)
    return Batch(memory=memory, deciders=deciders, **chosen_ones)


def _of_each_share(values: Array, chosen: Array) -> Array:
    """Returns [T, S * K, ...] of [T, S * N, ...]; what a share gives stays together, so that it stays on its device."""
    shared = values.reshape(len(values), len(chosen), -1, *values.shape[2:])
    picked = jax.vmap(lambda share, own: share[:, own], in_axes=(1, 0), out_axes=1)(shared, chosen)
    taken: Array = picked.reshape(len(values), chosen.size, *values.shape[2:])
    return taken


def update(
    learner: Learner,
    network: Network,
    batch: Batch,
    config: PpoConfig,
    entropy_coefficient: Array,
    key: Array,
    shares: int = 1,
) -> tuple[Learner, Losses]:
    """Learns from a batch.

    Args:
        learner: before.
        network: the learner's.
        batch: T steps of L lanes.
        config: epochs, minibatches and losses.
        entropy_coefficient: α now, float32 [].
        key: of the order of lanes, or of games.
        shares: S, into which these fall in order; every minibatch takes as many of each. Where each device has one
            share, nothing but gradients and a few means travels between devices.

    Returns:
        The learner after all minibatches, and the mean losses over them.
    """
    shared_out = (batch.starts if batch.deciders is None else batch.deciders).shape[1]
    config.check_lanes(shared_out, shares)
    steps = optimiser(config)
    gradient = jax.value_and_grad(loss, has_aux=True)

    def minibatch(learner: Learner, chosen: Array) -> tuple[Learner, Losses]:
        part = part_of(batch, chosen)
        part = part._replace(advantage=normalised(part.advantage, part.judged))

        def slope_of(own: Batch) -> tuple[Any, Losses]:
            (_, found), slope = gradient(learner.params, network, own, own.advantage, config, entropy_coefficient)
            return slope, found

        def piece(own: Array) -> tuple[Any, Losses]:
            return slope_of(part_of(part, own))

        if config.accumulate == 1:
            slope, found = slope_of(part)
        else:
            pieces = jnp.broadcast_to(jnp.arange(chosen.shape[1]), chosen.shape).reshape(shares, config.accumulate, -1)
            every = jax.lax.map(piece, pieces.swapaxes(0, 1))
            slope, found = jax.tree.map(lambda leaf: leaf.mean(axis=0), every)
        change, state = steps.update(slope, learner.optimiser, learner.params)
        return Learner(optax.apply_updates(learner.params, change), state), found

    def epoch(learner: Learner, key: Array) -> tuple[Learner, Losses]:
        keys = jax.random.split(key, shares) if shares > 1 else key[None]
        order = jax.vmap(lambda own: jax.random.permutation(own, shared_out // shares))(keys)
        return jax.lax.scan(minibatch, learner, order.reshape(shares, config.minibatches, -1).swapaxes(0, 1))

    learner, found = jax.lax.scan(epoch, learner, jax.random.split(key, config.epochs))
    return learner, jax.tree.map(jnp.mean, found)
