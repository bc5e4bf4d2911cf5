"""Draws from bits: what a batched game draws is what its reference is told."""

import random

import jax
import jax.numpy as jnp
import numpy as np

from games.batched.posg.chance import answering, picked, picked_where
from games.posg.chance import uniform_over

BITS = [random.Random(3).getrandbits(32) for _ in range(500)] + [0, 1, 2**32 - 1, 2**31, 2**31 - 1, 2**16, 2**16 - 1]


def test_both_sides_read_the_same_outcome_from_the_same_bits():
    counts = [1 + number % 100 for number in range(len(BITS))]
    found = jax.jit(jax.vmap(picked))(jnp.array(BITS, jnp.uint32), jnp.array(counts))
    told = [
        answering(["one"], [bits])("one", uniform_over(list(range(count))))
        for bits, count in zip(BITS, counts, strict=True)
    ]
    assert found.tolist() == told


def test_outcomes_cut_the_range_of_bits_into_equal_parts():
    third = 2**32 // 3
    bits = jnp.array([0, third, third + 1, 2 * third, 2 * third + 1, 2**32 - 1], jnp.uint32)
    assert picked(bits, 3).tolist() == [0, 0, 1, 1, 2, 2]


def test_a_draw_among_what_is_offered_counts_that_alone():
    offered = jnp.array([False, True, True, False, True])
    bits = jnp.array([0, 2**32 // 3 + 1, 2**32 - 1], jnp.uint32)
    np.testing.assert_array_equal([picked_where(one, offered) for one in bits], [1, 2, 4])
