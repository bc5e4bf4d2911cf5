import json
import math

import pytest

from search.learn.errors import PpoConfigError
from search.learn.ppo.config import PpoConfig


def test_defaults_are_those_of_the_paper():
    config = PpoConfig()
    assert (config.environments, config.steps, config.epochs, config.minibatches) == (1024, 128, 4, 4)
    assert (config.learning_rate, config.discount, config.gae_decay, config.clip) == (3e-4, 0.99, 0.95, 0.2)
    assert config.steps_per_update == 131_072
    assert config.updates == 7629


def test_json_gives_the_same_settings():
    assert not {"warm_up_share", "cosine", "bptt_steps"} & set(PpoConfig().to_json())
    config = PpoConfig(entropy=0.07, value_clip=None, entropy_end=0.01, cosine=True, bptt_steps=16)
    assert PpoConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert PpoConfig.from_json(config.to_json() | {"of_a_newer_version": 1}) == config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 0}, "epochs is 0: expected a whole number from 1 on"),
        ({"discount": 1.5}, "discount is 1.5: expected a number from 0 to 1"),
        ({"gae_decay": -0.1}, "gae_decay is -0.1"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0: expected a number above 0"),
        ({"value_clip": 0.0}, "value_clip is 0.0: expected a number above 0, or none"),
        ({"entropy": -0.1}, "entropy is -0.1: expected a number from 0 on"),
        ({"entropy_end": -0.1}, "entropy_end is -0.1: expected a number from 0 on"),
        ({"entropy": math.nan}, "entropy is nan: expected a number from 0 on"),
        ({"learning_rate": math.inf}, "learning_rate is inf: expected a number above 0"),
        ({"minibatches": 2.5}, "minibatches is 2.5: expected a whole number from 1 on"),
        ({"environments": "8"}, "environments is 8: expected a whole number from 1 on"),
        ({"warm_up_share": 1.5}, "warm_up_share is 1.5: expected a number from 0 to 1"),
        ({"cosine": True, "anneal_learning_rate": False}, "cosine says how the learning rate falls, but"),
        ({"bptt_steps": 10}, "bptt_steps is 10: expected a divisor of the 128 steps of a rollout, or 0"),
        ({"bptt_steps": -1}, "bptt_steps is -1"),
        ({"total_steps": 1000}, "less than one update of 1024 environments × 128 steps"),
    ],
)
def test_setting_out_of_range_is_refused(changes, message):
    with pytest.raises(PpoConfigError, match=message):
        PpoConfig(**changes)


def test_lanes_that_cannot_be_shared_out_are_refused():
    config = PpoConfig(minibatches=4, accumulate=2)
    config.check_lanes(16)
    with pytest.raises(PpoConfigError, match=r"12 sequences .* 4 minibatches of 2 pieces"):
        config.check_lanes(12)
    with pytest.raises(PpoConfigError, match="times the pieces of bptt_steps"):
        PpoConfig(bptt_steps=64).check_lanes(3)
