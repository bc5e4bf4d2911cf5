"""The losses of proximal policy optimisation (Schulman et al., 2017), with a clipped value loss."""

from typing import NamedTuple

import jax.numpy as jnp

from search.learn.api import Array


class Losses(NamedTuple):
    """What an update minimised, and how far it went; every field float32 [].

    Attributes:
        total: policy + value coefficient × value − entropy coefficient × entropy.
        policy: clipped surrogate, negated; steps that are left out count as 0, as they do in what follows `value`.
        value: half the larger of the squared errors with and without clipping.
        entropy: mean, in nats.
        divergence: estimate of KL(old, new): the mean of r − 1 − log r.
        clipped: share of steps whose ratio left the clipping range.
    """

    total: Array
    policy: Array
    value: Array
    entropy: Array
    divergence: Array
    clipped: Array


def surrogate(ratio: Array, advantage: Array, clip: float) -> Array:
    """Returns the clipped objective of each step, to be maximised, float32 [...]."""
    return jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage)


def value_error(value: Array, old: Array, target: Array, clip: float | None) -> Array:
    """Returns half the squared error of each value, the larger of both where it is clipped around the old one."""
    plain = jnp.square(value - target)
    if clip is None:
        return 0.5 * plain
    near = old + jnp.clip(value - old, -clip, clip)
    return 0.5 * jnp.maximum(plain, jnp.square(near - target))


def combine(
    log_ratio: Array,
    advantage: Array,
    value_errors: Array,
    entropies: Array,
    clip: float,
    value_coefficient: float,
    entropy_coefficient: Array | float,
) -> Losses:
    """Returns the losses of a minibatch.

    Args:
        log_ratio: float32 [...], one entry a step; `advantage` and `entropies` likewise.
        advantage: of what was done.
        value_errors: float32, one entry a step. Where they are more than the others, those are of the steps with a
            choice alone: the others have the ratio 1, the entropy 0, and no slope.
        entropies: of the policy.
        clip: of the ratio.
        value_coefficient: of the value loss.
        entropy_coefficient: α.
    """
    ratio = jnp.exp(log_ratio)
    share = log_ratio.size / value_errors.size
    policy = -surrogate(ratio, advantage, clip).mean() * share
    value, entropy = value_errors.mean(), entropies.mean() * share
    return Losses(
        total=policy + value_coefficient * value - entropy_coefficient * entropy,
        policy=policy,
        value=value,
        entropy=entropy,
        divergence=(ratio - 1 - log_ratio).mean() * share,
        clipped=(jnp.abs(ratio - 1) > clip).mean() * share,
    )
