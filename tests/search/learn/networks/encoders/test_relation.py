import jax
import numpy as np

from search.learn.networks.encoders.relation import Relation


def test_permuting_nodes_permutes_the_result(rng, ready):
    module = Relation(width=8, layers=2, heads=2)
    nodes = rng.normal(size=(2, 5, 3)).astype(np.float32)
    order = np.array([3, 0, 4, 1, 2])
    params, apply = ready(module, nodes)
    plain = apply(params, nodes)
    assert plain.shape == (2, 5, 8)
    np.testing.assert_allclose(apply(params, nodes[:, order]), plain[:, order], atol=1e-5)
    assert not np.allclose(plain, plain[:, order])


def test_every_node_hears_every_node_in_one_layer(rng, ready):
    module = Relation(width=8, layers=1, heads=2, activation=lambda x: x)
    nodes = rng.normal(size=(5, 3)).astype(np.float32)
    params, apply = ready(module, nodes)
    changed = apply(params, nodes + np.eye(5, 1)) - apply(params, nodes)
    assert (np.abs(changed).max(axis=1) > 1e-4).all()


def test_layer_agrees_with_the_definition(rng, ready):
    module = Relation(width=4, layers=1, heads=2)
    nodes = rng.normal(size=(3, 2)).astype(np.float32)
    params, apply = ready(module, nodes)
    weights = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params["params"])

    def linear(name, x):
        return x @ weights[name]["kernel"] + weights[name]["bias"]

    entry = linear("entry", nodes)
    queries, keys, values = (linear(f"{role}_0", entry) for role in ("query", "key", "value"))
    heard = np.zeros((3, 4))
    for part in (slice(0, 2), slice(2, 4)):
        shares = np.exp(queries[:, part] @ keys[:, part].T / 2**0.5)
        heard[:, part] = shares / shares.sum(axis=1, keepdims=True) @ values[:, part]
    total = entry + linear("joined_0", heard)
    centred = total - total.mean(axis=1, keepdims=True)
    norm = weights["norm_0"]
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-6) * norm["scale"] + norm["bias"]
    np.testing.assert_allclose(apply(params, nodes), np.maximum(expected, 0), atol=1e-4)
