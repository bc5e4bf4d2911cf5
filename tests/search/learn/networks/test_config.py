import json
import math

import pytest

from search.learn.errors import NetworkConfigError
from search.learn.networks.config import NetworkConfig


def test_configuration_survives_its_record():
    config = NetworkConfig(encoder="gatv2", layers=2, modalities=((0, 6, 4), (6, 8, 2)), core="none")
    assert NetworkConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_fields_that_came_later_are_told_where_they_are_not_usual_alone():
    told = NetworkConfig().to_json()
    assert not {"convolutions", "layer_norm", "shared_layers", "trunk", "head_widths", "values_of"} & set(told)
    config = NetworkConfig(convolutions=((1, 8), (3, 4)), layer_norm=True)
    told = config.to_json()
    assert told["convolutions"] == ((1, 8), (3, 4))
    assert told["layer_norm"] is True
    assert "shared_layers" not in told
    assert NetworkConfig.from_json(json.loads(json.dumps(told))) == config


def test_a_network_for_simultaneous_moves_survives_its_record():
    config = NetworkConfig("mlp", "lstm", 64, trunk=(64, 32), head_widths=(64,), values_of=((-1, 4), (0, 5)))
    assert NetworkConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_record_of_a_newer_version_is_read_without_what_is_unknown():
    assert NetworkConfig.from_json({"hidden": 8, "unheard_of": 1}) == NetworkConfig(hidden=8)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"encoder": "vgg"}, "encoder is 'vgg'"),
        ({"core": "ltsm"}, "core is 'ltsm'"),
        ({"activation": "gelu"}, "activation is 'gelu'"),
        ({"layers": 0}, "layers is 0"),
        ({"hidden": 8.5}, "hidden is 8.5: expected a whole number from 1 on"),
        ({"extra_layers": -1}, "extra_layers is -1: expected a whole number from 0 on"),
        ({"head_scale": math.nan}, "head_scale is nan"),
        ({"graph_heads": 0}, "graph_heads is 0"),
        ({"core": "transformer_xl", "hidden": 20, "heads": 8}, "hidden is 20, heads 8"),
        ({"core": "transformer_xl", "hidden": 3, "heads": 1}, "hidden is 3, heads 1"),
        ({"encoder": "gatv2", "filters": 6}, "filters is 6, graph_heads 4"),
        ({"encoder": "relation", "filters": 6}, "filters is 6, graph_heads 4"),
        ({"encoder": "gcn", "modalities": ((3, 3, 4),)}, r"modalities holds \(3, 3, 4\)"),
        ({"encoder": "gcn", "modalities": ((0, 3),)}, r"modalities holds \(0, 3\)"),
        ({"modalities": ((0, 3, 4),)}, "the encoder is 'cnn'"),
        ({"public_private": True}, "needs private_channels"),
        ({"encoder": "slots", "objects": (8, -1, 1)}, r"objects is \(8, -1, 1\)"),
        ({"encoder": "slots", "objects": (8, 9)}, r"objects is \(8, 9\)"),
        (
            {"encoder": "slots", "objects": (8, 1, 1), "public_private": True, "private_channels": 2},
            "has to be a public one",
        ),
        ({"encoder": "gcn", "public_private": True, "private_channels": 1}, "reads images"),
        ({"convolutions": ((2, 8),)}, r"convolutions holds \(2, 8\): expected \(side of the kernel, an odd number"),
        ({"convolutions": ((3,),)}, r"convolutions holds \(3,\)"),
        ({"encoder": "mlp", "convolutions": ((3, 8),)}, "convolutions are of the encoder cnn, not of mlp"),
        ({"shared_layers": -1}, "shared_layers is -1: expected a whole number from 0 on"),
        ({"encoder": "mlp", "trunk": (64, 0)}, r"trunk is \(64, 0\): expected widths, whole numbers from 1 on"),
        ({"trunk": (64,)}, "trunk and values_of are of the encoder mlp, not of cnn"),
        ({"head_widths": (64,), "extra_layers": 1}, "both say which layers stand before the heads"),
        (
            {"encoder": "mlp", "values_of": ((0, 5), (0, 0))},
            r"values_of holds \(0, 0\): expected \(lowest whole number",
        ),
    ],
)
def test_wrong_configuration_is_refused_by_name(wrong, message):
    with pytest.raises(NetworkConfigError, match=message):
        NetworkConfig(**wrong)


def test_only_an_mlp_can_do_without_layers():
    assert NetworkConfig(encoder="mlp", core="rnn", layers=0).layers == 0
