from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.learn.beliefs.beliefs import UniformBelief
from search.learn.beliefs.hidden import UNKNOWN, complete, left_over, log_weights, prefixes

COUNTS = (3, 2, 1)
TRUTH = np.array([1, 0, 0, 2, 1, 0])
DRAW = jax.jit(
    lambda known, logits, key: complete(known, COUNTS, lambda slot, assigned: logits[..., slot, :], key),
)


def assignments():
    return sorted(set(permutations([0, 0, 0, 1, 1, 2])))


def test_left_over_slots_are_counted_by_kind():
    assigned = np.array([[0, UNKNOWN, 0, 2, UNKNOWN, UNKNOWN], [UNKNOWN] * 6])
    np.testing.assert_array_equal(left_over(assigned, COUNTS), [[1, 2, 0], [3, 2, 1]])


def test_equal_logits_weigh_kinds_by_what_is_left():
    assigned = np.array([0, UNKNOWN, 0, 2, UNKNOWN, UNKNOWN])
    np.testing.assert_allclose(np.exp(log_weights(jnp.zeros(3), assigned, COUNTS)), [1 / 3, 2 / 3, 0], atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(TRUTH.tolist()),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.lists(st.floats(-30, 30), min_size=18, max_size=18),
    st.integers(0, 2**31),
)
def test_completed_assignments_keep_what_is_known_and_the_number_of_each_kind(truth, seen, logits, seed):
    known = np.where(seen, truth, UNKNOWN)
    logits = np.array(logits, np.float32).reshape(6, 3)
    found = np.asarray(DRAW(known, logits, jax.random.key(seed)))
    np.testing.assert_array_equal(found[seen], np.asarray(truth)[seen])
    np.testing.assert_array_equal(np.bincount(found, minlength=3), COUNTS)


@pytest.mark.parametrize("seen", [[], [0, 3]])
def test_uniform_belief_draws_every_consistent_assignment_equally_often(seen):
    known = np.full(6, UNKNOWN)
    known[seen] = TRUTH[seen]
    draws = 6000
    belief = UniformBelief(COUNTS)
    memory, features = belief.read((), belief.initial_memory(2), None, np.zeros((1, 2), bool))
    assert (memory, features.shape) == ((), (1, 2, 1))
    found = belief.sample((), features, np.broadcast_to(known, (draws, 6)), jax.random.key(0))
    possible = [one for one in assignments() if all(one[slot] == TRUTH[slot] for slot in seen)]
    rows, counts = np.unique(np.asarray(found), axis=0, return_counts=True)
    np.testing.assert_array_equal(rows, possible)
    expected = draws / len(possible)
    assert ((counts - expected) ** 2 / expected).sum() < 1.6 * len(possible) + 20


def test_prefixes_hold_earlier_slots_and_known_ones():
    known = np.array([UNKNOWN, UNKNOWN, UNKNOWN, 2, UNKNOWN, UNKNOWN])
    found = np.asarray(prefixes(known, TRUTH))
    np.testing.assert_array_equal(found[0], known)
    np.testing.assert_array_equal(found[2], [1, 0, UNKNOWN, 2, UNKNOWN, UNKNOWN])
    np.testing.assert_array_equal(found[5], [1, 0, 0, 2, 1, UNKNOWN])
