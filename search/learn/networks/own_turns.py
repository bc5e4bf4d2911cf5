"""A network whose memory keeps what a player saw when it was to move, and nothing of what it saw between.

At a table agents are shown their own decisions alone. Learners that step all players at every action have the same
memory there if it stands still while others act.
"""

import jax
import jax.numpy as jnp

from search.learn.api import Array, Memory, Network, Observation, Outputs, Params


class OwnTurns:
    """A network of vectors, for images of them that end with whether the player is to move, [T, L, ..., W + 1].

    Attributes:
        network: reads the vectors, [T, L, W].
    """

    def __init__(self, network: Network) -> None:
        self.network = network

    @property
    def num_actions(self) -> int:
        return self.network.num_actions

    def initial_memory(self, lanes: int) -> Memory:
        """Returns the memory of sequences that have seen nothing."""
        return self.network.initial_memory(lanes)

    def init(self, key: Array, observation: Observation) -> Params:
        """Returns fresh parameters, which are those of the network."""
        return self.network.init(key, _parts(observation)[0])

    def apply(
        self,
        params: Params,
        memory: Memory,
        observation: Observation,
        starts: Array,
        deciders: Array | None = None,
    ) -> tuple[Memory, Outputs]:
        """Reads T steps of L sequences, see `Network.apply`: one after the other, if the network has a memory."""
        seen, moves = _parts(observation)
        if not jax.tree.leaves(memory):
            return self.network.apply(params, memory, seen, starts, deciders)
        nothing = self.initial_memory(starts.shape[1])

        def step(memory: Memory, now: tuple[Array, Array, Array, Array | None]) -> tuple[Memory, Outputs]:
            seen, moves, start, decider = now
            before = _where(start, nothing, memory)
            who = None if decider is None else decider[None]
            after, outputs = self.network.apply(params, before, seen[None], jnp.zeros_like(start)[None], who)
            return _where(moves, after, before), jax.tree.map(lambda leaf: leaf[0], outputs)

        return jax.lax.scan(step, memory, (seen, moves, starts, deciders))


def _parts(observation: Array) -> tuple[Array, Array]:
    """Returns vectors [T, L, W], and whether players are to move, bool [T, L]."""
    flat = observation.reshape(*observation.shape[:2], -1)
    return flat[..., :-1], flat[..., -1] > 0.5


def _where(flags: Array, these: Memory, those: Memory) -> Memory:
    """Returns a memory of one of two for each sequence."""
    return jax.tree.map(
        lambda one, other: jnp.where(flags.reshape(-1, *(1,) * (one.ndim - 1)), one, other), these, those
    )
