from typing import NamedTuple

import jax
import numpy as np
import pytest

from games.batched.yokai.environment import make
from games.yokai.config import config
from games.yokai.modalities import modalities
from search.learn.networks.encoders.graph import Graph, connections, with_virtual_node

MODALITIES = ((0, 2, 3), (2, 3, 2))


class Pair(NamedTuple):
    nodes: np.ndarray
    adjacency: np.ndarray


@pytest.fixture
def observation(rng, symmetric):
    """Four cards and two hints, three channels, two steps of three sequences."""
    nodes = rng.normal(size=(2, 3, 6, 3)).astype(np.float32)
    return Pair(nodes, symmetric(2, 3, 4, 4) - np.eye(4, dtype=np.float32))


def test_virtual_node_is_zero_and_joined_to_all_and_every_node_to_itself():
    edges = connections(np.array([[0, 1], [1, 0]], np.float32), 3)
    assert edges.tolist() == [[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    nodes = np.ones((5, 3, 2), np.float32)
    widened = with_virtual_node(nodes)
    assert (widened[:, :3] == nodes).all()
    assert (widened[:, 3] == 0).all()


@pytest.mark.parametrize(("kind", "count"), [("gcn", 7), ("gatv2", 7), ("relation", 6)])
def test_vector_holds_every_node_once(observation, kind, count, ready):
    module = Graph(kind, width=8, layers=2, heads=2, modalities=MODALITIES)
    params, apply = ready(module, observation)
    assert apply(params, observation).shape == (2, 3, count * 8)


@pytest.mark.parametrize("kind", ["gcn", "gatv2", "relation"])
def test_permuting_cards_permutes_their_places_in_the_vector(observation, kind, ready):
    module = Graph(kind, width=8, layers=2, heads=2, modalities=MODALITIES)
    params, apply = ready(module, observation)
    order = np.array([2, 0, 3, 1])
    whole = np.concatenate([order, [4, 5]])
    permuted = Pair(observation.nodes[:, :, whole], observation.adjacency[:, :, order][:, :, :, order])
    plain = np.asarray(apply(params, observation)).reshape(2, 3, -1, 8)
    after = np.asarray(apply(params, permuted)).reshape(2, 3, -1, 8)
    np.testing.assert_allclose(after[:, :, :6], plain[:, :, whole], atol=1e-5)
    np.testing.assert_allclose(after[:, :, 6:], plain[:, :, 6:], atol=1e-5)


@pytest.mark.parametrize("kind", ["gcn", "gatv2"])
def test_virtual_node_hears_every_node_in_one_layer_and_all_nodes_do_in_two(rng, kind, ready):
    lonely = Pair(rng.normal(size=(6, 3)).astype(np.float32), np.zeros((4, 4), np.float32))
    changed = lonely._replace(nodes=lonely.nodes + 2 * np.eye(6, 1, dtype=np.float32))
    reached = []
    for layers in (1, 2):
        module = Graph(kind, width=8, layers=layers, heads=2, activation=lambda x: x)
        params, apply = ready(module, lonely)
        change = apply(params, changed) - apply(params, lonely)
        reached.append((np.abs(np.asarray(change)).reshape(7, 8).max(axis=1) > 1e-6).tolist())
    assert reached == [[True, *[False] * 5, True], [True] * 7]


def test_edges_matter_to_graph_layers_and_not_to_the_relation_module(observation, ready):
    matters = {}
    for kind in ("gcn", "gatv2", "relation"):
        module = Graph(kind, width=8, layers=1, heads=2)
        params, apply = ready(module, observation)
        without = observation._replace(adjacency=np.zeros_like(observation.adjacency))
        matters[kind] = not np.allclose(apply(params, observation), apply(params, without))
    assert matters == {"gcn": True, "gatv2": True, "relation": False}


def test_graph_of_yokai_is_read_with_its_modalities(ready):
    env = make("yokai-9c-2p")
    seen = jax.jit(lambda keys: env.observe_graph(env.init(keys)))(jax.random.split(jax.random.key(0), 2))
    players = seen._replace(adjacency=np.broadcast_to(seen.adjacency[:, None], (2, 2, 9, 9)))
    module = Graph("gcn", width=4, layers=1, modalities=modalities(config(9, 2)))
    params, apply = ready(module, players)
    assert params["params"]["layers"]["convolution_0"]["kernel"].shape == (26, 4)
    assert apply(params, players).shape == (2, 2, (9 + 4 + 1) * 4)
