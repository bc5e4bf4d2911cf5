import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from search.learn import masked_categorical as categorical

ROWS, ACTIONS = 3, 5
LOGITS = arrays.arrays(np.float32, (ROWS, ACTIONS), elements=st.floats(-50, 50, width=32))
LEGAL = arrays.arrays(bool, (ROWS, ACTIONS)).map(lambda mask: mask | ~mask.any(axis=1, keepdims=True))

log_probabilities = jax.jit(categorical.log_probabilities)
entropy = jax.jit(categorical.entropy)
sample = jax.jit(categorical.sample)
greedy = jax.jit(categorical.greedy)


def expected(logits, legal):
    """Returns the probabilities by their definition, in float64."""
    shifted = logits.astype(np.float64) - np.where(legal, logits, -np.inf).max(axis=-1, keepdims=True)
    weights = np.where(legal, np.exp(np.where(legal, shifted, 0)), 0)
    return weights / weights.sum(axis=-1, keepdims=True)


@settings(deadline=None)
@given(LOGITS, LEGAL)
def test_probabilities_agree_with_their_definition(logits, legal):
    found = np.exp(np.asarray(log_probabilities(logits, legal)))
    np.testing.assert_allclose(found, expected(logits, legal), atol=2e-6)
    assert (found[~legal] == 0).all()


@settings(deadline=None)
@given(LOGITS, LEGAL)
def test_entropy_agrees_with_its_definition(logits, legal):
    chances = expected(logits, legal)
    wanted = -np.where(chances > 0, chances * np.log(np.where(chances > 0, chances, 1)), 0).sum(axis=-1)
    np.testing.assert_allclose(entropy(logits, legal), wanted, atol=2e-5)


@settings(deadline=None)
@given(LOGITS, LEGAL, st.integers(0, 1000))
def test_drawn_and_likeliest_actions_are_legal(logits, legal, seed):
    rows = np.arange(ROWS)
    assert legal[rows, np.asarray(sample(jax.random.key(seed), logits, legal))].all()
    likeliest = np.asarray(greedy(logits, legal))
    assert legal[rows, likeliest].all()
    np.testing.assert_array_equal(likeliest, np.where(legal, logits, -np.inf).argmax(axis=1))


def test_single_legal_action_is_certain_and_has_no_entropy():
    logits, legal = jnp.array([3.0, -40.0, 7.0]), jnp.array([False, True, False])
    assert categorical.log_probabilities(logits, legal)[1] == 0
    assert categorical.entropy(logits, legal) == 0
    keys = jax.random.split(jax.random.key(0), 100)
    assert (jax.vmap(lambda key: categorical.sample(key, logits, legal))(keys) == 1).all()


def test_actions_are_drawn_as_often_as_they_are_likely():
    logits, legal = jnp.log(jnp.array([0.5, 0.3, 0.1, 0.2])), jnp.array([True, True, False, True])
    count = 100_000
    drawn = categorical.sample(jax.random.key(1), jnp.broadcast_to(logits, (count, 4)), legal)
    found = np.bincount(np.asarray(drawn), minlength=4) / count
    np.testing.assert_allclose(found, [0.5, 0.3, 0, 0.2], atol=4 * (0.25 / count) ** 0.5)
    assert found[2] == 0


def test_draws_are_those_of_jax():
    rng = np.random.default_rng(0)
    legal = rng.random((500, 7)) < 0.5
    legal[:, 2] = True
    logits = jnp.asarray(rng.normal(size=(500, 7)), jnp.float32)
    expected = jax.random.categorical(jax.random.key(4), jnp.where(legal, logits, -1e9))
    np.testing.assert_array_equal(categorical.sample(jax.random.key(4), logits, legal), expected)


def test_log_probability_is_that_of_the_action():
    logits, legal = jnp.zeros((2, 4)), jnp.array([[True, True, False, False], [True, True, True, True]])
    found = categorical.log_probability(logits, legal, jnp.array([1, 3]))
    np.testing.assert_allclose(found, np.log([1 / 2, 1 / 4]), rtol=1e-6)


@pytest.mark.parametrize("measure", [categorical.entropy, categorical.log_probability])
def test_illegal_actions_get_no_gradient_and_others_a_finite_one(measure):
    logits, legal = jnp.array([1.0, 60.0, -60.0, 2.0]), jnp.array([True, False, True, True])
    more = (jnp.array(3),) if measure is categorical.log_probability else ()
    slope = jax.grad(lambda values: measure(values, legal, *more))(logits)
    assert slope[1] == 0
    assert np.isfinite(slope).all()
    assert slope[0] != 0
