import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.networks.cores.gru_gate import GruGate
from search.learn.networks.cores.transformer_xl import Remembered, TransformerXl, skewed, waves

WIDTH, HEADS, WINDOW, STEPS = 4, 2, 3, 11
MODULE = TransformerXl(WIDTH, HEADS, WINDOW)
GATE = jax.jit(GruGate().apply)
STARTS = np.zeros((STEPS, 2), bool)
STARTS[5, 0] = STARTS[0, 1] = STARTS[7, 1] = STARTS[8, 1] = True
"""The first sequence starts anew in its middle; the second at once, and twice more in a row."""


@pytest.fixture
def inputs(rng):
    return rng.normal(size=(STEPS, 2, WIDTH)).astype(np.float32)


@pytest.fixture
def memory(rng):
    """Two remembered steps of the first sequence, three of the second."""
    valid = jnp.array([[False, True, True], [True, True, True]])
    return Remembered(jnp.asarray(rng.normal(size=(2, WINDOW, WIDTH)), jnp.float32), valid)


@pytest.fixture
def network(ready, memory, inputs):
    """Random parameters and the compiled layer."""
    params, apply = ready(MODULE, memory, inputs, STARTS)
    return params, apply


def normed(x, weights):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-6) * weights["scale"] + weights["bias"]


def linear(x, weights):
    return x @ weights["kernel"] + weights["bias"]


def slow_step(params, now, past):
    """The definition for one step [H] of one sequence, given what it remembers, newest first."""
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])
    attention = weights["attention"]
    stream = normed(np.stack([now, *past]), weights["attention_norm"])
    keys, values = linear(stream, attention["key"]), linear(stream, attention["value"])
    query = linear(stream[0], attention["query"])
    distances = linear(waves(WINDOW + 1, WIDTH), attention["distance"])
    heard = np.zeros(WIDTH)
    for head in range(HEADS):
        part = slice(head * WIDTH // HEADS, (head + 1) * WIDTH // HEADS)
        content = keys[:, part] @ (query[part] + attention["content_bias"][head])
        place = distances[: len(stream), part] @ (query[part] + attention["distance_bias"][head])
        shares = np.exp((content + place) / (WIDTH // HEADS) ** 0.5)
        heard[part] = shares / shares.sum() @ values[:, part]
    heard = np.maximum(linear(heard, attention["joined"]), 0)
    hidden = GATE({"params": params["params"]["attention_gate"]}, now, heard.astype(np.float32))
    thought = normed(np.asarray(hidden), weights["dense_norm"])
    for layer in range(2):
        thought = np.maximum(linear(thought, weights[f"dense_{layer}"]), 0)
    return GATE({"params": params["params"]["dense_gate"]}, hidden, thought.astype(np.float32))


def test_layer_agrees_with_the_definition_step_by_step(network, memory, inputs):
    params, apply = network
    _, results = apply(params, memory, inputs, STARTS)
    for lane in range(2):
        past = [step for step, valid in zip(memory.inputs[lane], memory.valid[lane], strict=True) if valid][::-1]
        for step in range(STEPS):
            past = [] if STARTS[step, lane] else past[:WINDOW]
            expected = slow_step(params, inputs[step, lane], past)
            np.testing.assert_allclose(results[step, lane], expected, atol=2e-5)
            past = [inputs[step, lane], *past]


@pytest.mark.parametrize("parts", [[1] * STEPS, [4, 7], [2, 3, 6], [10, 1]])
def test_sequence_in_parts_gives_what_the_whole_gives(network, memory, inputs, parts):
    params, apply = network
    last, whole = apply(params, memory, inputs, STARTS)
    results, begin, carried = [], 0, memory
    for length in parts:
        carried, result = apply(params, carried, inputs[begin : begin + length], STARTS[begin : begin + length])
        results.append(result)
        begin += length
    np.testing.assert_allclose(np.concatenate(results), whole, atol=2e-6)
    np.testing.assert_array_equal(carried.inputs, last.inputs)
    np.testing.assert_array_equal(carried.valid, last.valid)


def test_step_reads_itself_and_the_window_before_it_and_nothing_else(network, inputs):
    params, _ = network
    no_starts, empty = np.zeros_like(STARTS), MODULE.initial_memory(2)

    @jax.jit
    def influence(inputs):
        """How much the result of each step changes with the input of each, [STEPS, STEPS]."""
        slopes = jax.jacrev(lambda inputs: MODULE.apply(params, empty, inputs, no_starts)[1][:, 0].sum(axis=-1))
        return jnp.abs(slopes(inputs)[:, :, 0]).max(axis=-1)

    reads = np.asarray(influence(inputs)) > 0
    back = np.arange(STEPS)[:, None] - np.arange(STEPS)
    np.testing.assert_array_equal(reads, (back >= 0) & (back <= WINDOW))


def test_memory_holds_the_last_inputs_and_whether_they_belong_to_the_episode(network, memory, inputs):
    params, apply = network
    after, _ = apply(params, memory, inputs[:2], np.array([[False, False], [False, True]]))
    np.testing.assert_array_equal(after.inputs[:, :1], memory.inputs[:, 2:])
    np.testing.assert_array_equal(after.inputs[:, 1:], inputs[:2].swapaxes(0, 1))
    assert after.valid.tolist() == [[True, True, True], [False, False, True]]


def test_what_was_remembered_of_an_earlier_episode_plays_no_part(network, memory, inputs):
    params, apply = network
    other = memory._replace(inputs=-memory.inputs)
    _, before = apply(params, memory, inputs, STARTS)
    _, after = apply(params, other, inputs, STARTS)
    assert not np.allclose(before[:2, 0], after[:2, 0])
    np.testing.assert_array_equal(before[:, 1], after[:, 1])


def test_empty_memory_plays_no_part_though_the_episode_goes_on(network, inputs):
    params, apply = network
    no_starts, empty = np.zeros_like(STARTS), MODULE.initial_memory(2)
    filled = empty._replace(inputs=jnp.asarray(inputs[:WINDOW].swapaxes(0, 1)))
    results = [apply(params, memory, inputs, no_starts)[1] for memory in (empty, filled)]
    np.testing.assert_array_equal(*results)


def test_gradients_are_finite(network, inputs):
    params, _ = network
    empty = MODULE.initial_memory(2)
    gradients = jax.jit(jax.grad(lambda params: MODULE.apply(params, empty, inputs, STARTS)[1].sum()))(params)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))


def test_inputs_of_another_width_are_refused():
    with pytest.raises(ValueError, match="The layer is 4 wide and its inputs 3"):
        MODULE.init(jax.random.key(0), MODULE.initial_memory(1), jnp.zeros((1, 1, 3)), jnp.zeros((1, 1), bool))


def test_skewing_moves_each_row_one_place_further():
    moved = skewed(jnp.array([[1, 2, 3], [4, 5, 6]]))
    assert moved.tolist() == [[1, 2, 3, 0], [0, 4, 5, 6]]


def test_distances_are_encoded_by_waves_of_falling_rates():
    encoded = waves(3, 4)
    np.testing.assert_allclose(encoded[0], [0, 0, 1, 1])
    np.testing.assert_allclose(encoded[2], [np.sin(2), np.sin(0.02), np.cos(2), np.cos(0.02)], rtol=1e-6)
