"""What the parts of learning agree on: observations and memories as trees of arrays, and what a network is.

Axes: `T` steps, `L` sequences at once (a lane's seat: games times players), `N` actions. Sequences are time-major.
"""

from typing import Any, NamedTuple, Protocol, TypeAlias

import jax

Array: TypeAlias = jax.Array
Params: TypeAlias = Any
"""Parameters of a network: a tree of float32 arrays."""
Observation: TypeAlias = Any
"""A tree of arrays with the same leading axes: [T, L, ...]."""
Memory: TypeAlias = Any
"""What a network carries from step to step: a tree of arrays [L, ...]; an empty tuple for none."""


class Outputs(NamedTuple):
    """What a network says of every step.

    Attributes:
        logits: float32 [T, L, N], before the mask of legal actions.
        values: float32 [T, L], estimates of the discounted return.
        features: float32 [T, L, H], what the heads read: where probes look.
    """

    logits: Array
    values: Array
    features: Array


class BatchedPolicy(Protocol):
    """What plays in lanes beside networks, a heuristic say; its memory is fresh at the start of an episode."""

    def initial(self, lanes: int) -> Memory:
        """Returns the memory of L sequences that have seen nothing."""
        ...

    def act(
        self, params: Params, memory: Memory, observation: Observation, legal: Array, keys: Array
    ) -> tuple[Memory, Array]:
        """Chooses an action of each lane.

        Args:
            params: of the policy; `()` where it has none.
            memory: leaves [L, ...].
            observation: leaves [L, ...].
            legal: bool [L, N].
            keys: typed keys [L]: what a lane draws depends on its own alone.

        Returns:
            The memory after the step, and legal actions, int32 [L].
        """
        ...


class Network(Protocol):
    """A recurrent actor-critic as pure functions."""

    @property
    def num_actions(self) -> int: ...

    def initial_memory(self, lanes: int) -> Memory:
        """Returns the memory of L sequences that have seen nothing."""
        ...

    def init(self, key: Array, observation: Observation) -> Params:
        """Returns fresh parameters.

        Args:
            key: a typed key.
            observation: one example of any leading axes [T, L, ...].
        """
        ...

    def apply(
        self,
        params: Params,
        memory: Memory,
        observation: Observation,
        starts: Array,
        deciders: Array | None = None,
    ) -> tuple[Memory, Outputs]:
        """Reads T steps of L sequences.

        Args:
            params: as `init` returned them.
            memory: before the first step, leaves [L, ...].
            observation: leaves [T, L, ...].
            starts: bool [T, L]: the step is the first of its episode: what came before is forgotten.
            deciders: int32 [T, E], the player of each game whose logits are wanted, of lanes game by game, player by
                player (L = E · P): logits and features are then [T, E, ...]. None for those of all lanes.

        Returns:
            The memory after the last step, and the outputs.
        """
        ...
