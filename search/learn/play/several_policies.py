"""Several policies of one network, stacked; every lane is played by one of them."""

from typing import Any

import jax
import jax.numpy as jnp

from search.learn.api import Array, Memory, Network, Observation, Params


def stacked(policies: list[Params]) -> Params:
    """Returns policies of one network as one tree, leaves [M, ...]."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *policies)


def count(policies: Params) -> int:
    """Returns M, the number of stacked policies."""
    return int(jax.tree.leaves(policies)[0].shape[0])


def act(
    network: Network, policies: Params, which: Array, memory: Memory, observation: Observation, starts: Array
) -> tuple[Memory, Array]:
    """Asks every policy about one step of every lane and keeps the answer of the lane's own.

    No gradient reaches the policies. The work is M times that of one policy, in return for products of whole
    matrices.

    Args:
        network: of all policies.
        policies: leaves [M, ...].
        which: int32 [L], number of each lane's policy.
        memory: leaves [L, ...].
        observation: leaves [L, ...].
        starts: bool [L], the step is the first of its episode.

    Returns:
        The memory after the step, and logits float32 [L, N].
    """
    shown = jax.tree.map(lambda leaf: leaf[None], observation)

    def ask(kept: tuple[Memory, Array], now: tuple[Params, Array]) -> tuple[tuple[Memory, Array], None]:
        params, number = now
        after, outputs = network.apply(params, memory, shown, starts[None])
        mine = which == number

        def choose(new: Array, old: Array) -> Array:
            return jnp.where(mine.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        return jax.tree.map(choose, (after, outputs.logits[0]), kept), None

    frozen: Any = jax.lax.stop_gradient(policies)
    empty = memory, jnp.zeros((which.shape[0], network.num_actions), jnp.float32)
    answered, _ = jax.lax.scan(ask, empty, (frozen, jnp.arange(count(policies))))
    return answered
