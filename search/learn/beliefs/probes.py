"""Linear probes: can something be read off what a network's heads read? One softmax probe for each place.

As in the Yōkai Learning Environment paper (section 6.4, appendix E): all probes are trained at once, and none of them
shares anything with another.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from search.learn.api import Array
from search.learn.errors import LearnError
from search.learn.ranges import is_positive, is_whole

NOTHING = -1
"""Label of a place at which there is nothing to tell: it is left out."""


class ProbeError(LearnError):
    """Probes cannot be trained as asked."""


@dataclass(frozen=True)
class ProbeConfig:
    """How probes are trained.

    Attributes:
        epochs: passes over all rows.
        batch: rows of a step.
        learning_rate: of Adam at the start; it falls linearly to 0.
    """

    epochs: int = 10
    batch: int = 2048
    learning_rate: float = 1e-2

    def __post_init__(self) -> None:
        for name in ("epochs", "batch"):
            if not is_whole(getattr(self, name), 1):
                raise ProbeError(f"{name} is {getattr(self, name)}: expected a whole number from 1 on.")
        if not is_positive(self.learning_rate):
            raise ProbeError(f"learning_rate is {self.learning_rate}: expected a number above 0.")


class Probes(NamedTuple):
    """Probes for C places with K classes each, of features of width H.

    Attributes:
        weights: float32 [H, C, K].
        bias: float32 [C, K].
        centre: float32 [H], mean of the features that they were trained on.
        spread: float32 [H], their standard deviation, 1 where that is 0.
    """

    weights: Array
    bias: Array
    centre: Array
    spread: Array


def train(features: Array, labels: Array, classes: int, key: Array, config: ProbeConfig | None = None) -> Probes:
    """Trains one probe a place by Adam on the cross-entropy.

    Args:
        features: float32 [N, H].
        labels: int [N, C], from 0 to K - 1, or `NOTHING`; a row of these alone counts for nothing.
        classes: K.
        key: typed key [], of the order of the rows.
        config: how; default: `ProbeConfig()`.

    Raises:
        ProbeError: there are no rows.
    """
    config = config or ProbeConfig()
    if not len(features):
        raise ProbeError("Probes need rows to learn from: play more games.")
    trained: Probes = _train(features, labels, classes, key, config)
    return trained


@partial(jax.jit, static_argnames=("classes", "config"))
def _train(features: Array, labels: Array, classes: int, key: Array, config: ProbeConfig) -> Probes:
    rows, width = features.shape
    places = labels.shape[1]
    batch = min(config.batch, rows)
    batches = rows // batch
    told = (labels != NOTHING).any(axis=1)[:, None]
    count = jnp.maximum(told.sum(), 1)
    centre = jnp.where(told, features, 0.0).sum(axis=0) / count
    spread = jnp.sqrt(jnp.where(told, jnp.square(features - centre), 0.0).sum(axis=0) / count)
    spread = jnp.where(spread > 0, spread, 1.0)
    schedule = optax.linear_schedule(config.learning_rate, 0.0, config.epochs * batches)
    adam = optax.adam(schedule)
    fresh = Probes(jnp.zeros((width, places, classes)), jnp.zeros((places, classes)), centre, spread)

    def loss(weights: Array, bias: Array, which: Array) -> Array:
        said = logits(Probes(weights, bias, centre, spread), features[which])
        wanted = labels[which].astype(jnp.int32)
        losses = optax.softmax_cross_entropy_with_integer_labels(said, jnp.maximum(wanted, 0))
        # Summed over the places, so that each probe is trained as if it were alone.
        total: Array = jnp.where(wanted == NOTHING, 0.0, losses).sum() / batch
        return total

    def step(carry: tuple[tuple[Array, Array], Any], which: Array) -> tuple[tuple[tuple[Array, Array], Any], None]:
        (weights, bias), state = carry
        slopes = jax.grad(loss, argnums=(0, 1))(weights, bias, which)
        changes, state = adam.update(slopes, state)
        return ((weights + changes[0], bias + changes[1]), state), None

    def epoch(carry: tuple[tuple[Array, Array], Any], key: Array) -> tuple[tuple[tuple[Array, Array], Any], None]:
        order = jax.random.permutation(key, rows)[: batches * batch].reshape(batches, batch)
        return jax.lax.scan(step, carry, order)

    own = fresh.weights, fresh.bias
    ((weights, bias), _), _ = jax.lax.scan(epoch, (own, adam.init(own)), jax.random.split(key, config.epochs))
    return fresh._replace(weights=weights, bias=bias)


def logits(probes: Probes, features: Array) -> Array:
    """Returns what the probes say of features [..., H]: float32 [..., C, K]."""
    standard = (features - probes.centre) / probes.spread
    said: Array = jnp.einsum("...h,hck->...ck", standard, probes.weights) + probes.bias
    return said


@jax.jit
def right(probes: Probes, features: Array, labels: Array) -> Array:
    """Returns where the likeliest class is the label, bool [..., C]; false where there is nothing to tell."""
    found: Array = jnp.argmax(logits(probes, features), axis=-1) == labels
    return found
