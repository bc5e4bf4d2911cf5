import jax
import numpy as np

from search.learn.networks.cores.rnn import Rnn


def test_layer_agrees_with_the_definition(rng, ready):
    inputs = rng.normal(size=(4, 2, 3)).astype(np.float32)
    memory = rng.normal(size=(2, 5)).astype(np.float32)
    starts = np.zeros((4, 2), bool)
    params, apply = ready(Rnn(5), memory, inputs, starts)
    last, results = apply(params, memory, inputs, starts)
    assert results.shape == (4, 2, 5)
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])
    for step in range(4):
        memory = np.tanh(
            inputs[step] @ weights["input"]["kernel"] + weights["input"]["bias"] + memory @ weights["memory"]
        )
        np.testing.assert_allclose(results[step], memory, atol=1e-5)
    np.testing.assert_allclose(last, memory, atol=1e-5)
