import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.networks.initialisers import dense


@pytest.mark.parametrize(("layer", "scale"), [(dense(3), 2**0.5), (dense(3, scale=0.5), 0.5), (dense(3, scale=0.0), 0)])
def test_weights_are_orthogonal_with_the_scale_and_biases_zero(layer, scale):
    params = layer.init(jax.random.key(0), jnp.zeros((1, 5)))["params"]
    kernel = np.asarray(params["kernel"])
    np.testing.assert_allclose(kernel.T @ kernel, scale**2 * np.eye(3), atol=1e-6)
    assert params["bias"].tolist() == [0, 0, 0]
