"""Convolutions over images (the Yōkai Learning Environment paper, appendix D.2)."""

from typing import Any

import flax.linen as nn

from search.learn.api import Array
from search.learn.errors import NetworkConfigError
from search.learn.networks.encoders.relu import relu
from search.learn.networks.initialisers import ROOT_TWO

KERNEL = (3, 3)


class Cnn(nn.Module):
    """Valid 3×3 convolutions of stride 1 with ReLU, then everything in one row.

    Attributes:
        filters: of each convolution.
        layers: number of convolutions.
        dtype: of the computation.
    """

    filters: int = 64
    layers: int = 4
    dtype: Any = None

    @nn.compact
    def __call__(self, image: Array) -> Array:
        """Encodes images [..., height, width, channels] as vectors [..., E].

        Raises:
            NetworkConfigError: the image is too small for so many convolutions.
        """
        height, width = image.shape[-3:-1]
        if min(height, width) <= 2 * self.layers:
            raise NetworkConfigError(
                f"{self.layers} valid 3×3 convolutions need images of more than {2 * self.layers} cells a side, "
                f"not {height} × {width}: take fewer layers."
            )
        # All images in one row, those of a lane together: a row of [steps, lanes] that begins with all lanes of the
        # first step cannot stay spread over devices by lanes.
        lanes = image.shape[-4] if image.ndim > 3 else 1
        by_step = image.reshape(-1, lanes, *image.shape[-3:])
        hidden = by_step.swapaxes(0, 1).reshape(-1, *image.shape[-3:])
        for layer in range(self.layers):
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
