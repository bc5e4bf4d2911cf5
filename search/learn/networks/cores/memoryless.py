"""No memory: every step stands alone."""

import flax.linen as nn

from search.learn.api import Array


class Memoryless(nn.Module):
    """Passes its input on; the memory is empty."""

    def initial_memory(self, lanes: int) -> tuple[()]:
        """Returns the memory of sequences that have seen nothing: none."""
        return ()

    def __call__(self, memory: tuple[()], inputs: Array, starts: Array) -> tuple[tuple[()], Array]:
        """Reads steps; see `Network.apply`."""
        return memory, inputs
