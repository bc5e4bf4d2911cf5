"""What every memory has in common."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.networks.cores.gru import Gru
from search.learn.networks.cores.memoryless import Memoryless
from search.learn.networks.cores.rnn import Rnn
from search.learn.networks.cores.transformer_xl import TransformerXl

CORES = {"gru": Gru(4), "rnn": Rnn(4), "transformer_xl": TransformerXl(4, 2, 3), "none": Memoryless()}


@pytest.fixture(params=CORES)
def name(request):
    return request.param


@pytest.fixture
def core(name):
    return CORES[name]


@pytest.fixture
def inputs(rng):
    return rng.normal(size=(9, 2, 4)).astype(np.float32)


@pytest.fixture
def network(core, inputs, filled):
    params = filled(core.init, core.initial_memory(2), inputs, np.zeros((9, 2), bool))
    return params, compiled(core)


@cache
def compiled(core):
    return jax.jit(core.apply)


def test_episode_that_starts_in_the_middle_is_read_as_if_nothing_came_before(core, inputs, network):
    params, apply = network
    starts = np.zeros((9, 2), bool)
    starts[4, 0] = True
    last, results = apply(params, core.initial_memory(2), inputs, starts)
    fresh, expected = apply(params, core.initial_memory(2), inputs[4:], np.zeros((5, 2), bool))
    np.testing.assert_allclose(results[4:, 0], expected[:, 0], atol=2e-6)
    for kept, anew in zip(jax.tree.leaves(last), jax.tree.leaves(fresh), strict=True):
        np.testing.assert_allclose(kept[0], anew[0], atol=2e-6)


def test_episode_that_goes_on_is_read_with_what_came_before(name, core, inputs, network):
    params, apply = network
    starts = np.zeros((9, 2), bool)
    _, results = apply(params, core.initial_memory(2), inputs, starts)
    _, fresh = apply(params, core.initial_memory(2), inputs[4:], starts[4:])
    assert np.allclose(results[4], fresh[0], atol=1e-3) == (name == "none")


def test_sequence_step_by_step_gives_what_the_whole_gives(core, inputs, network):
    params, apply = network
    starts = np.zeros((9, 2), bool)
    starts[3, 0] = starts[0, 1] = starts[6, 1] = True
    last, whole = apply(params, core.initial_memory(2), inputs, starts)
    memory, results = core.initial_memory(2), []
    for step in range(9):
        memory, result = apply(params, memory, inputs[step : step + 1], starts[step : step + 1])
        results.append(result)
    np.testing.assert_allclose(np.concatenate(results), whole, atol=2e-6)
    for kept, expected in zip(jax.tree.leaves(memory), jax.tree.leaves(last), strict=True):
        np.testing.assert_allclose(kept, expected, atol=2e-6)


def test_sequences_do_not_mix(core, inputs, network):
    params, apply = network
    starts = np.zeros((9, 2), bool)
    _, results = apply(params, core.initial_memory(2), inputs, starts)
    changed = inputs + np.array([[0], [1]], np.float32)
    _, after = apply(params, core.initial_memory(2), changed, starts)
    np.testing.assert_array_equal(results[:, 0], after[:, 0])
    assert not np.allclose(results[:, 1], after[:, 1])


def test_memory_is_a_tree_of_arrays_whose_first_axis_is_the_sequence(core, inputs, network):
    params, apply = network
    before = core.initial_memory(2)
    after, _ = apply(params, before, inputs, np.zeros((9, 2), bool))
    assert jax.tree.structure(before) == jax.tree.structure(after)
    shapes = [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(before)]
    assert shapes == [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(after)]
    assert all(shape[0] == 2 for shape, _ in shapes)


@pytest.mark.parametrize(
    "kind", [Gru(4, jnp.bfloat16), Rnn(4, jnp.bfloat16), TransformerXl(4, 2, 3, dtype=jnp.bfloat16)]
)
def test_memory_stays_float32_when_computing_in_bfloat16(kind, inputs, ready):
    starts = np.zeros((9, 2), bool)
    params, apply = ready(kind, kind.initial_memory(2), inputs.astype(jnp.bfloat16), starts)
    after, results = apply(params, kind.initial_memory(2), inputs.astype(jnp.bfloat16), starts)
    assert results.dtype == jnp.bfloat16
    assert all(leaf.dtype in (jnp.float32, jnp.bool_) for leaf in jax.tree.leaves(after))
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(params))
