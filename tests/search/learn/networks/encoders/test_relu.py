import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.networks.encoders.relu import relu


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16])
def test_values_and_slopes_are_those_of_jax_s_own_at_0_too(kind):
    values = jnp.array([[-2.0, -0.0, 0.0, 0.5], [3.0, 1e-30, -1e-30, -7.0]], kind)
    slopes = jnp.arange(1.0, 9.0, dtype=kind).reshape(2, 4)
    for function in (jax.jit, jax.vmap):
        found, back = jax.vjp(function(relu), values)
        known, derived = jax.vjp(jax.nn.relu, values)
        assert found.dtype == back(slopes)[0].dtype == kind
        np.testing.assert_array_equal(found, known)
        np.testing.assert_array_equal(back(slopes)[0], derived(slopes)[0])
