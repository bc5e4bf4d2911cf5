import numpy as np

from search.learn.networks.encoders.gcn import Gcn, normalised


def test_edges_are_weighted_by_the_roots_of_both_degrees():
    path = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], np.float32)
    side, middle = 1 / 2, 1 / 3
    across = 1 / 6**0.5
    expected = [[side, across, 0], [across, middle, across], [0, across, side]]
    np.testing.assert_allclose(normalised(path), expected, rtol=1e-6)


def test_layer_gives_what_is_computed_by_hand():
    """A path of three nodes with features 1, 2, 3; weights 2, biases -3 and -4, then the rectifier."""
    path = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], np.float32)
    params = {"convolution_0": {"kernel": np.float32([[2, 2]]), "bias": np.float32([-3, -4])}}
    result = Gcn(width=2, layers=1).apply({"params": params}, np.float32([[1], [2], [3]]), path)
    root = 6**0.5
    gathered = [1 / 2 + 2 / root, 1 / root + 2 / 3 + 3 / root, 2 / root + 3 / 2]
    assert gathered[0] < 3 / 2
    expected = [[0, 0], *([2 * total - 3, 2 * total - 4] for total in gathered[1:])]
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_permuting_nodes_permutes_the_result(rng, symmetric, ready):
    module = Gcn(width=6, layers=2)
    nodes, edges = rng.normal(size=(2, 5, 3)).astype(np.float32), symmetric(2, 5, 5)
    order = np.array([3, 0, 4, 1, 2])
    params, apply = ready(module, nodes, edges)
    plain = apply(params, nodes, edges)
    permuted = apply(params, nodes[:, order], edges[:, order][:, :, order])
    np.testing.assert_allclose(permuted, plain[:, order], atol=1e-5)
    assert not np.allclose(plain, plain[:, order])


def test_news_travels_one_hop_a_layer(ready):
    path = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]], np.float32)
    nodes = np.ones((4, 1), np.float32)
    for layers in (1, 2):
        module = Gcn(width=8, layers=layers, activation=lambda x: x)
        params, apply = ready(module, nodes, path)
        change = apply(params, nodes + np.eye(4, 1, dtype=np.float32), path) - apply(params, nodes, path)
        reached = np.abs(change).max(axis=1) > 1e-5
        assert reached.tolist() == [True] * (layers + 1) + [False] * (3 - layers)
