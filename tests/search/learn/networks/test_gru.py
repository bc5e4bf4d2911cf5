import jax
import numpy as np

from search.learn.networks.gru import Gru, orthogonal_gates


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
