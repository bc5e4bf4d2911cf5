import json

import pytest

from arena.baselines import policies
from search.learn import checkpoint
from search.learn.errors import CheckpointError


def test_a_policy_is_read_with_the_network_that_its_config_names(save_policy):
    policy = policies.load(save_policy(view="default"))
    assert (policy.name, policy.view, policy.network.num_actions) == ("tiny", "default", 1068)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": {"core": "none"}}, "core/input/bias is in one of both alone"),
        ({"network": {"hidden": 8}}, r"actor/kernel is \[16, 1068\], expected \[8, 1068\]"),
        ({"game": "yokai-9c-3p"}, r"actor/bias is \[1068\], expected \[1150\]"),
    ],
)
def test_a_config_of_another_network_or_game_is_refused_before_anybody_plays(save_policy, change, message):
    folder = save_policy()
    about = json.loads((folder / checkpoint.ABOUT).read_text())
    changed = about | change | {"network": about["network"] | change.get("network", {})}
    (folder / checkpoint.ABOUT).write_text(json.dumps(changed))
    with pytest.raises(CheckpointError, match=message):
        policies.load(folder)
