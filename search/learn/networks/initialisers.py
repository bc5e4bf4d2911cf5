"""Initial weights, as in the Yōkai Learning Environment paper (appendix D.2)."""

from typing import Any

import flax.linen as nn

ROOT_TWO = 2**0.5


def dense(features: int, scale: float = ROOT_TWO, dtype: Any = None, name: str | None = None) -> nn.Dense:
    """Returns a linear layer with orthogonal weights of a scale and zero biases."""
    return nn.Dense(features, kernel_init=nn.initializers.orthogonal(scale), dtype=dtype, name=name)
