"""Yōkai for thousands of games at once, seen as graphs: for learners that read trees of arrays."""

from typing import Any

import jax.numpy as jnp

from games.batched.yokai.environment import YokaiEnv
from games.batched.yokai.observe import BatchedGraph
from games.batched.yokai.state import State


class YokaiGraphEnv(YokaiEnv):
    """Batched Yōkai whose `observe` gives graphs; all else is as in `YokaiEnv`."""

    # A graph is no single array, which is what environments of images promise.
    def observe(self, state: State) -> Any:
        """Returns what every player sees as a graph of its own.

        Returns:
            A `BatchedGraph` of nodes float32 [P, Y + H, f] and adjacency float32 [P, Y, Y].
        """
        seen = self.observe_graph(state)
        shape = (*seen.adjacency.shape[:-2], self.num_players, *seen.adjacency.shape[-2:])
        return BatchedGraph(seen.nodes, jnp.broadcast_to(seen.adjacency[..., None, :, :], shape))
