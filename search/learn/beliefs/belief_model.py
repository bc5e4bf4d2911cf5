"""A learned belief as pure functions: reading what a player sees, drawing what is hidden, judging the truth."""

from typing import NamedTuple

import jax.numpy as jnp

from search.learn.api import Array, Observation, Params
from search.learn.beliefs.hidden import UNKNOWN, complete, log_weights, prefixes
from search.learn.networks.belief import BeliefConfig, BeliefNetwork
from search.learn.networks.cores.lstm import Lstm, LstmMemory


class CrossEntropy(NamedTuple):
    """How badly a belief foresees the truth, in nats; sums, so that parts may be added up.

    Attributes:
        total: float32 [], of all unknown slots of all positions.
        unknown: float32 [], how many unknown slots there were.
        positions: float32 [], how many positions.
    """

    total: Array
    unknown: Array
    positions: Array

    @property
    def per_slot(self) -> Array:
        """Mean over unknown slots, nats; what training minimises."""
        return self.total / jnp.maximum(self.unknown, 1.0)

    @property
    def per_position(self) -> Array:
        """Mean over positions of the sum over slots, nats."""
        return self.total / jnp.maximum(self.positions, 1.0)


class BeliefModel:
    """A learned belief as `Belief`.

    Attributes:
        config: which network.
        counts: slots by kind.
    """

    def __init__(self, config: BeliefConfig, counts: tuple[int, ...], rank: int = 3) -> None:
        """Sets up a belief.

        Args:
            config: which network.
            counts: slots by kind.
            rank: axes of one observation: 3 for images.
        """
        self.config = config
        self.counts = counts
        self.slots = sum(counts)
        self._network = BeliefNetwork(config, self.slots, len(counts), rank)

    def initial_memory(self, lanes: int) -> LstmMemory:
        """Returns the memory of L sequences that have seen nothing."""
        return Lstm(self.config.hidden).initial_memory(lanes)

    def init(self, key: Array, observation: Observation) -> Params:
        """Returns fresh parameters; the observation is one example with leading axes [T, L]."""
        leading = observation.shape[:2]
        memory = self.initial_memory(leading[1])
        return self._network.init(key, memory, observation, jnp.zeros(leading, bool))["params"]

    def read(
        self, params: Params, memory: LstmMemory, observation: Observation, starts: Array
    ) -> tuple[LstmMemory, Array]:
        """Reads T steps of L sequences; see `Belief.read`."""
        found: tuple[LstmMemory, Array] = self._network.apply(
            {"params": params}, memory, observation, starts, method="encode"
        )
        return found

    def sample(self, params: Params, features: Array, known: Array, key: Array) -> Array:
        """Draws an assignment, int32 [..., S]; see `Belief.sample`."""

        def propose(slot: Array, assigned: Array) -> Array:
            return self._decode(params, features, slot, assigned)

        return complete(known, self.counts, propose, key)

    def log_likelihood(self, params: Params, features: Array, known: Array, truth: Array) -> Array:
        """Returns the log-probability of what each slot holds, given the slots before it.

        Args:
            params: of the belief.
            features: float32 [..., hidden].
            known: int32 [..., S], what the player has seen itself.
            truth: int32 [..., S].

        Returns:
            float32 [..., S], nats; 0 for known slots. The sum is the log-probability of the assignment.
        """
        assigned = prefixes(known, truth)
        logits = self._decode(params, features[..., None, :], jnp.arange(self.slots), assigned)
        every = log_weights(logits, assigned, self.counts)
        found = jnp.take_along_axis(every, truth[..., None], axis=-1)[..., 0]
        return jnp.where(known == UNKNOWN, found, 0.0)

    def cross_entropy(self, params: Params, features: Array, known: Array, truth: Array) -> CrossEntropy:
        """Returns the cross-entropy over all leading axes; arguments as for `log_likelihood`."""
        found = self.log_likelihood(params, features, known, truth)
        unknown = (known == UNKNOWN).sum().astype(jnp.float32)
        return CrossEntropy(-found.sum(), unknown, jnp.asarray(known[..., 0].size, jnp.float32))

    def _decode(self, params: Params, features: Array, slot: Array, assigned: Array) -> Array:
        logits: Array = self._network.apply({"params": params}, features, slot, assigned, method="decode")
        return logits
