import jax
import numpy as np

from search.learn.networks.cores.gru_gate import GruGate


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_gate_agrees_with_the_definition(rng, ready):
    module = GruGate(bias=2.0)
    stream, update = rng.normal(size=(2, 5, 4)).astype(np.float32)
    params, apply = ready(module, stream, update)
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])
    reset_in, gate_in, new_in = np.split(update @ weights["update"]["kernel"] + weights["update"]["bias"], 3, axis=1)
    reset_kept, gate_kept = np.split(stream @ weights["stream"]["kernel"], 2, axis=1)
    gate = sigmoid(gate_in + gate_kept - weights["shut"])
    new = np.tanh(new_in + (sigmoid(reset_in + reset_kept) * stream) @ weights["reset_stream"]["kernel"])
    np.testing.assert_allclose(apply(params, stream, update), (1 - gate) * stream + gate * new, atol=1e-5)


def test_bias_keeps_the_gate_nearly_shut_at_first():
    module, stream = GruGate(), np.full((1, 4), 1e-3, np.float32)
    update = np.zeros((1, 4), np.float32)
    params = jax.jit(module.init)(jax.random.key(0), stream, update)
    assert params["params"]["shut"].tolist() == [2.0] * 4
    moved = np.linalg.norm(jax.jit(module.apply)(params, stream, update) - stream)
    # What is new is no longer than the stream, as its weights are orthogonal; the gate lets pass sigmoid(-2) of it.
    assert 0 < moved <= 2 * sigmoid(-2.0) * np.linalg.norm(stream) * 1.01
