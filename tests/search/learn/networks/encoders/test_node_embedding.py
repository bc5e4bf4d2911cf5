import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.yokai.config import config
from games.yokai.modalities import modalities
from games.yokai.tensors import channels
from search.learn.networks.encoders.node_embedding import NodeEmbedding


def test_each_modality_is_a_linear_layer_over_its_own_channels(rng, ready):
    module = NodeEmbedding(((0, 2, 3), (2, 3, 1)))
    nodes = rng.normal(size=(2, 5, 3)).astype(np.float32)
    params, apply = ready(module, nodes)
    params = params["params"]
    embedded = apply({"params": params}, nodes)
    first, second = params["modality_0"], params["modality_1"]
    expected = [nodes[..., :2] @ first["kernel"] + first["bias"], nodes[..., 2:] @ second["kernel"] + second["bias"]]
    np.testing.assert_allclose(embedded, np.concatenate(expected, axis=-1), atol=1e-5)


def test_features_stay_as_they_are_without_modalities(rng):
    nodes = jnp.asarray(rng.normal(size=(2, 5, 3)))
    assert (NodeEmbedding(()).apply({}, nodes) == nodes).all()


def test_modality_beyond_the_last_channel_is_refused():
    with pytest.raises(ValueError, match="Nodes have 3 channels"):
        NodeEmbedding(((0, 2, 4), (2, 4, 4))).init(jax.random.key(0), jnp.zeros((5, 3)))


@pytest.mark.parametrize(("cards", "players"), [(8, 2), (9, 2), (9, 4), (16, 3)])
def test_modalities_of_yokai_cover_every_channel_once_and_are_26_wide(cards, players):
    configuration = config(cards, players)
    ranges = modalities(configuration)
    covered = [channel for first, end, _ in ranges for channel in range(first, end)]
    assert covered == list(range(channels(configuration).total))
    assert sum(width for _, _, width in ranges) == 26
    at = channels(configuration)
    assert (at.is_current, at.is_current + 1, 2) in ranges
    assert (at.row, at.column + 1, 4) in ranges
