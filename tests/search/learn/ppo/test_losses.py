import jax
import jax.numpy as jnp
import numpy as np

from search.learn.ppo.losses import combine, surrogate, value_error


def test_surrogate_by_hand():
    ratio = jnp.array([0.5, 0.5, 1.0, 1.1, 1.5, 1.5])
    advantage = jnp.array([2.0, -2.0, 3.0, 1.0, 2.0, -2.0])
    expected = [0.5 * 2, 0.8 * -2, 3.0, 1.1, 1.2 * 2, 1.5 * -2]
    np.testing.assert_allclose(surrogate(ratio, advantage, 0.2), expected, rtol=1e-6)


def test_surrogate_has_no_slope_where_going_on_would_gain_nothing():
    slope = jax.vmap(jax.grad(lambda ratio, advantage: surrogate(ratio, advantage, 0.2)))
    ratio, advantage = jnp.array([1.5, 0.5, 1.5, 0.5]), jnp.array([1.0, -1.0, -1.0, 1.0])
    np.testing.assert_array_equal(slope(ratio, advantage), [0, 0, -1, 1])


def test_value_error_by_hand():
    value, old = jnp.array([1.0, 1.0, 1.0, 1.1]), jnp.array([0.0, 0.0, 3.0, 1.0])
    target = jnp.array([2.0, 0.0, 1.0, 2.0])
    # Clipped values: 0.2, 0.2, 2.8, 1.1; the larger error counts.
    np.testing.assert_allclose(
        value_error(value, old, target, 0.2), [1.8**2 / 2, 1 / 2, 1.8**2 / 2, 0.9**2 / 2], rtol=1e-6
    )
    np.testing.assert_allclose(value_error(value, old, target, None), [0.5, 0.5, 0.0, 0.405], rtol=1e-6)


def test_losses_by_hand():
    ratio = np.array([1.5, 0.9])
    found = combine(jnp.log(ratio), jnp.array([2.0, -1.0]), jnp.array([1.0, 3.0]), jnp.array([0.5, 0.7]), 0.2, 0.5, 0.1)
    policy = -(1.2 * 2 - 0.9) / 2
    assert np.isclose(found.policy, policy)
    assert np.isclose(found.value, 2.0)
    assert np.isclose(found.entropy, 0.6)
    assert np.isclose(found.total, policy + 0.5 * 2 - 0.1 * 0.6)
    assert np.isclose(found.divergence, (ratio - 1 - np.log(ratio)).mean(), atol=1e-6)
    assert found.clipped == 0.5
