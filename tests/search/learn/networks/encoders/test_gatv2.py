import jax
import numpy as np

from search.learn.networks.encoders.gatv2 import Gatv2, Gatv2Layer


def slow_layer(params, nodes, edges, heads):
    """The definition, node by node and head by head, in double precision."""
    double = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)
    asks = nodes @ double["asks"]["kernel"] + double["asks"]["bias"]
    says = nodes @ double["says"]["kernel"] + double["says"]["bias"]
    each = asks.shape[1] // heads
    result = np.zeros_like(asks)
    for head in range(heads):
        part = slice(head * each, (head + 1) * each)
        for node in range(len(nodes)):
            neighbours = [other for other in range(len(nodes)) if edges[node, other]]
            scores = []
            for other in neighbours:
                both = asks[node, part] + says[other, part]
                scores.append(double["attention"][head] @ np.where(both > 0, both, 0.2 * both))
            shares = np.exp(scores) / np.exp(scores).sum()
            result[node, part] = sum(share * says[other, part] for share, other in zip(shares, neighbours, strict=True))
    return result + double["bias"]


def test_layer_agrees_with_the_definition(rng, symmetric, ready):
    module = Gatv2Layer(width=6, heads=2)
    nodes, edges = rng.normal(size=(5, 3)).astype(np.float32), symmetric(5, 5)
    params, apply = ready(module, nodes, edges)
    expected = slow_layer(params["params"], nodes, edges, heads=2)
    np.testing.assert_allclose(apply(params, nodes, edges), expected, atol=1e-5)


def test_several_graphs_are_read_as_one_by_one(rng, symmetric, ready):
    module = Gatv2(width=4, heads=2)
    nodes, edges = rng.normal(size=(3, 2, 5, 3)).astype(np.float32), symmetric(3, 2, 5, 5)
    params, apply = ready(module, nodes, edges)
    together = apply(params, nodes, edges)
    assert together.shape == (3, 2, 5, 4)
    np.testing.assert_allclose(together[2, 1], apply(params, nodes[2, 1], edges[2, 1]), atol=1e-6)


def test_permuting_nodes_permutes_the_result(rng, symmetric, ready):
    module = Gatv2(width=8, layers=2, heads=4)
    nodes, edges = rng.normal(size=(5, 3)).astype(np.float32), symmetric(5, 5)
    order = np.array([3, 0, 4, 1, 2])
    params, apply = ready(module, nodes, edges)
    plain = apply(params, nodes, edges)
    np.testing.assert_allclose(apply(params, nodes[order], edges[order][:, order]), plain[order], atol=1e-5)
    assert not np.allclose(plain, plain[order])


def test_node_without_neighbours_hears_itself_alone(rng, symmetric, ready):
    module = Gatv2(width=4, layers=1, heads=2)
    nodes, edges = rng.normal(size=(4, 3)).astype(np.float32), symmetric(4, 4)
    edges[0, 1:] = edges[1:, 0] = 0
    params, apply = ready(module, nodes, edges)
    changed = nodes + np.array([[0], [1], [1], [1]], np.float32)
    before, after = apply(params, nodes, edges), apply(params, changed, edges)
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.allclose(before[1:], after[1:])


def test_gradients_are_finite_where_edges_are_missing(rng, ready):
    module = Gatv2(width=4, layers=2, heads=2)
    nodes, edges = rng.normal(size=(4, 3)).astype(np.float32), np.eye(4, dtype=np.float32)
    params, apply = ready(module, nodes, edges)
    gradients = jax.grad(lambda params: apply(params, nodes, edges).sum())(params)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))
