import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from search.learn.ppo.returns import advantages, normalised

estimated = jax.jit(advantages)

# One lane whose episode ends with the second of four steps.
REWARDS = np.array([[1.0], [2.0], [0.0], [4.0]], np.float32)
VALUES = np.array([[0.5], [1.0], [2.0], [3.0]], np.float32)
DONE = np.array([[False], [True], [False], [False]])
LAST = np.array([8.0], np.float32)


@pytest.mark.parametrize(
    ("decay", "expected"),
    [
        # Surprises: 1 + 1/2 * 1 - 0.5 = 1; 2 - 1 = 1; 0 + 1/2 * 3 - 2 = -0.5; 4 + 1/2 * 8 - 3 = 5.
        (0.0, [1.0, 1.0, -0.5, 5.0]),
        # Returns: 1 + 1/2 * 2 = 2; 2; 0 + 1/2 * 8 = 4; 4 + 1/2 * 8 = 8; less the values.
        (1.0, [1.5, 1.0, 2.0, 5.0]),
        # Surprises, each plus 1/4 of what follows in its episode: 1 + 1/4; 1; -0.5 + 5/4; 5.
        (0.5, [1.25, 1.0, 0.75, 5.0]),
    ],
)
def test_advantages_by_hand(decay, expected):
    found, targets = advantages(REWARDS, VALUES, DONE, LAST, 0.5, decay)
    np.testing.assert_array_equal(found[:, 0], expected)
    np.testing.assert_array_equal(targets, np.asarray(found) + VALUES)


def test_value_after_an_end_is_not_read():
    done = np.array([[False], [True], [False], [True]])
    found = [advantages(REWARDS, VALUES, done, last, 0.9, 0.8)[0] for last in (LAST, LAST + 100)]
    np.testing.assert_array_equal(*found)


SHAPE = (6, 2)
REAL = arrays.arrays(np.float32, SHAPE, elements=st.floats(-10, 10, width=32))


@settings(deadline=None)
@given(REAL, REAL, arrays.arrays(bool, SHAPE), st.floats(0, 1), st.floats(0, 1))
def test_advantages_agree_with_the_sum_over_each_episode(rewards, values, done, discount, decay):
    last = np.ones(2, np.float32)
    following = np.concatenate([values[1:], last[None]])
    surprise = rewards + discount * np.where(done, 0, following) - values
    wanted = np.zeros(SHAPE)
    for lane in range(2):
        for step in range(6):
            ends = np.flatnonzero(done[step:, lane])
            stop = step + ends[0] + 1 if len(ends) else 6
            weights = (discount * decay) ** np.arange(stop - step)
            wanted[step, lane] = weights @ surprise[step:stop, lane]
    found, _ = estimated(rewards, values, done, last, discount, decay)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_normalised_values_have_mean_0_and_deviation_1():
    found = np.asarray(normalised(jnp.array([[1.0, 2.0], [3.0, 10.0]])))
    assert abs(found.mean()) < 1e-6
    assert abs(found.std() - 1) < 1e-6
    np.testing.assert_array_equal(normalised(jnp.full(3, 7.0)), np.zeros(3))


def test_values_that_do_not_count_become_0_and_change_no_other():
    values, counted = jnp.array([1.0, 500.0, 3.0, -9.0]), jnp.array([True, False, True, False])
    np.testing.assert_allclose(normalised(values, counted), [-1, 0, 1, 0], rtol=1e-6)
    np.testing.assert_array_equal(normalised(values, counted & False), np.zeros(4))
