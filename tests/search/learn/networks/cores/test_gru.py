import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.networks.cores.gru import Gru, orthogonal_gates, recur


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_layer_agrees_with_the_definition(rng, ready):
    inputs = rng.normal(size=(5, 2, 3)).astype(np.float32)
    start = rng.normal(size=(2, 4)).astype(np.float32)
    starts = np.zeros((5, 2), bool)
    starts[2, 0] = True
    params, apply = ready(Gru(4), start, inputs, starts)
    last, results = apply(params, start, inputs, starts)
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])
    memory = start
    for step in range(5):
        memory = np.where(starts[step][:, None], 0, memory)
        driven = np.split(inputs[step] @ weights["input"]["kernel"] + weights["input"]["bias"], 3, axis=1)
        kept = np.split(memory @ weights["memory"], 3, axis=1)
        reset, update = sigmoid(driven[0] + kept[0]), sigmoid(driven[1] + kept[1])
        new = np.tanh(driven[2] + reset * (kept[2] + weights["memory_bias"]))
        memory = (1 - update) * new + update * memory
        np.testing.assert_allclose(results[step], memory, atol=1e-5)
    np.testing.assert_allclose(last, memory, atol=1e-5)


def test_weights_of_every_gate_are_orthogonal():
    gates = np.split(np.asarray(orthogonal_gates(jax.random.key(0), (5, 15))), 3, axis=1)
    for gate in gates:
        np.testing.assert_allclose(gate.T @ gate, np.eye(5), atol=1e-5)
    assert not np.allclose(gates[0], gates[1])


def by_definition(weights, shift, memory, driven, starts):
    """Returns what `recur` returns, from a loop whose way back JAX derives."""

    def step(memory, now):
        sums, start = now
        memory = jnp.where(start[:, None], 0, memory)
        reset_in, update_in, new_in = jnp.split(sums, 3, axis=1)
        reset_kept, update_kept, new_kept = jnp.split(memory @ weights, 3, axis=1)
        update = jax.nn.sigmoid(update_in + update_kept)
        new = jnp.tanh(new_in + jax.nn.sigmoid(reset_in + reset_kept) * (new_kept + shift))
        memory = (1 - update) * new + update * memory
        return memory, memory

    return jax.lax.scan(step, memory, (driven, starts))[1]


@pytest.mark.parametrize(("kind", "tolerance"), [(jnp.float32, 1e-6), (jnp.bfloat16, 0.03)])
@pytest.mark.parametrize("steps", [1, 6])
def test_slopes_are_those_that_jax_derives_from_the_definition(rng, kind, tolerance, steps):
    shapes = (4, 12), (4,), (5, 4), (steps, 5, 12)
    numbers = tuple(jnp.asarray(0.7 * rng.normal(size=shape), kind) for shape in shapes)
    starts = jnp.asarray(rng.random((steps, 5)) < 0.3).at[0, 0].set(True)
    weighted = jnp.asarray(rng.normal(size=(steps, 5, 4)), jnp.float32)

    def slopes(function):
        def total(*numbers):
            return (function(*numbers, starts).astype(jnp.float32) * weighted).sum()

        return jax.jit(jax.grad(total, argnums=(0, 1, 2, 3)))(*numbers)

    for mine, derived in zip(slopes(recur), slopes(by_definition), strict=True):
        assert mine.dtype == derived.dtype == kind
        size = np.abs(np.asarray(derived, np.float32)).max()
        assert size > 0.01
        np.testing.assert_allclose(np.asarray(mine, np.float32), np.asarray(derived, np.float32), atol=tolerance * size)


def test_several_policies_have_the_slopes_of_each(rng):
    """Seeds are trained side by side, under `vmap`."""
    weights = jnp.asarray(rng.normal(size=(2, 4, 12)), jnp.float32)
    driven = jnp.asarray(rng.normal(size=(3, 5, 12)), jnp.float32)
    starts = jnp.zeros((3, 5), bool)

    def slope(weights):
        return jax.grad(lambda weights: recur(weights, jnp.ones(4), jnp.ones((5, 4)), driven, starts).sum())(weights)

    both, alone = jax.jit(jax.vmap(slope))(weights), jax.jit(slope)
    for index in (0, 1):
        np.testing.assert_allclose(both[index], alone(weights[index]), atol=1e-5)
