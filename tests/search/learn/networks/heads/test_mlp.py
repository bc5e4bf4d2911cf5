import numpy as np

from search.learn.networks.heads.mlp import Mlp


def test_layers_read_the_flattened_observation(rng, ready):
    seen = rng.normal(size=(2, 3, 2, 2)).astype(np.float32)
    params, apply = ready(Mlp(width=5, layers=2, rank=2), seen)
    hidden = seen.reshape(2, 3, 4)
    for layer in range(2):
        weights = params["params"][f"linear_{layer}"]
        hidden = np.tanh(hidden @ weights["kernel"] + weights["bias"])
    np.testing.assert_allclose(apply(params, seen), hidden, atol=1e-5)
