"""Convolutions over images (the Yōkai Learning Environment paper, appendix D.2)."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from search.learn.api import Array
from search.learn.errors import NetworkConfigError
from search.learn.networks.encoders.relu import relu
from search.learn.networks.initialisers import ROOT_TWO, dense

KERNEL = (3, 3)


class Cnn(nn.Module):
    """Convolutions of stride 1 with ReLU, then everything in one row.

    Attributes:
        filters: of each valid 3×3 convolution.
        layers: number of these.
        dtype: of the computation.
        padded: (side of the kernel, filters) of zero-padded convolutions, which are there in place of the valid ones.
    """

    filters: int = 64
    layers: int = 4
    dtype: Any = None
    padded: tuple[tuple[int, int], ...] = ()

    @nn.compact
    def __call__(self, image: Array) -> Array:
        """Encodes images [..., height, width, channels] as vectors [..., E].

        Raises:
            NetworkConfigError: the image is too small for so many convolutions.
        """
        height, width = image.shape[-3:-1]
        if not self.padded and min(height, width) <= 2 * self.layers:
            raise NetworkConfigError(
                f"{self.layers} valid 3×3 convolutions need images of more than {2 * self.layers} cells a side, "
                f"not {height} × {width}: take fewer layers."
            )
        # All images in one row, those of a lane together: a row of [steps, lanes] that begins with all lanes of the
        # first step cannot stay spread over devices by lanes.
        lanes = image.shape[-4] if image.ndim > 3 else 1
        by_step = image.reshape(-1, lanes, *image.shape[-3:])
        hidden = by_step.swapaxes(0, 1).reshape(-1, *image.shape[-3:])
        for layer, (side, filters) in enumerate(self.padded):
            name = f"convolution_{layer}"
            hidden = relu(dense(filters, dtype=self.dtype, name=name)(neighbourhoods(hidden, side)))
        for layer in range(0 if self.padded else self.layers):
            hidden = nn.Conv(
                self.filters,
                KERNEL,
                padding="VALID",
                kernel_init=nn.initializers.orthogonal(ROOT_TWO),
                dtype=self.dtype,
                name=f"convolution_{layer}",
            )(hidden)
            hidden = relu(hidden)
        by_lane = hidden.reshape(lanes, len(by_step), -1)
        return by_lane.swapaxes(0, 1).reshape(*image.shape[:-3], -1)


def neighbourhoods(images: Array, side: int) -> Array:
    """Returns what lies around every cell, zeros beyond the rim.

    A padded convolution is then a product of matrices, which processors compute many times faster than convolutions
    whose weights differ from seed to seed.

    Args:
        images: [..., height, width, channels].
        side: of the neighbourhood, an odd number.

    Returns:
        Row by row of the neighbourhood, [..., height, width, side * side * channels].
    """
    height, width = images.shape[-3:-1]
    rim = [(0, 0)] * (images.ndim - 3) + [(side // 2, side // 2)] * 2 + [(0, 0)]
    wide = jnp.pad(images, rim)
    shifted = [
        wide[..., row : row + height, column : column + width, :] for row in range(side) for column in range(side)
    ]
    return jnp.concatenate(shifted, axis=-1)
