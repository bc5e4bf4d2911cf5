import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.networks.encoders.cnn import Cnn


def slow_convolution(image, weights):
    """A valid 3×3 convolution with ReLU over [height, width, channels], cell by cell."""
    height, width, _ = image.shape
    result = np.zeros((height - 2, width - 2, weights["bias"].shape[0]))
    for row in range(height - 2):
        for column in range(width - 2):
            patch = image[row : row + 3, column : column + 3]
            result[row, column] = np.tensordot(patch, weights["kernel"], axes=3) + weights["bias"]
    return np.maximum(result, 0)


def test_encoder_agrees_with_the_definition(rng, ready):
    images = rng.normal(size=(2, 3, 6, 7, 2)).astype(np.float32)
    params, apply = ready(Cnn(filters=4, layers=2), images)
    encoded = apply(params, images)
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])
    picture = images[1, 2]
    for layer in range(2):
        picture = slow_convolution(picture, weights[f"convolution_{layer}"])
    assert encoded.shape == (2, 3, 2 * 3 * 4)
    np.testing.assert_allclose(encoded[1, 2], picture.reshape(-1), atol=1e-4)


def test_image_too_small_for_the_convolutions_is_refused():
    with pytest.raises(ValueError, match="more than 8 cells a side, not 8 × 9"):
        Cnn(filters=2, layers=4).init(jax.random.key(0), jnp.zeros((8, 9, 3)))


def test_smallest_image_leaves_one_cell(ready):
    params, apply = ready(Cnn(filters=2, layers=1), jnp.zeros((3, 3, 1)))
    assert apply(params, jnp.zeros((3, 3, 1))).shape == (2,)


def test_padded_convolutions_agree_with_the_definition_and_keep_the_size(rng, ready):
    images = rng.normal(size=(2, 3, 4, 5, 2)).astype(np.float32)
    params, apply = ready(Cnn(padded=((1, 3), (3, 2))), images)
    encoded = apply(params, images)
    assert encoded.shape == (2, 3, 4 * 5 * 2)
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])
    first, second = (weights[f"convolution_{layer}"] for layer in range(2))
    picture = np.maximum(images[1, 2] @ first["kernel"] + first["bias"], 0)
    wide = np.pad(picture, ((1, 1), (1, 1), (0, 0)))
    as_kernel = {"kernel": second["kernel"].reshape(3, 3, 3, 2), "bias": second["bias"]}
    np.testing.assert_allclose(encoded[1, 2], slow_convolution(wide, as_kernel).reshape(-1), atol=1e-4)
