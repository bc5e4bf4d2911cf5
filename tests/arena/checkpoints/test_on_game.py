import json

import numpy as np
import pytest

from arena.checkpoints import on_game
from arena.commands.exit_codes import EXIT_USAGE, exit_code
from games.api import GameError
from search.learn import checkpoint
from search.learn.errors import CheckpointError


def test_a_policy_is_read_with_the_network_that_its_config_names(save_policy):
    policy = on_game.load(save_policy(view="default"))
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
        on_game.load(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": [1]}, "is damaged .*restore it"),
        ({"network": {"hidden": "64"}}, "is damaged .*restore it"),
        ({"view": "oracle"}, "the view 'oracle': expected text, and default or memory"),
        ({"name": 7}, "has the name 7"),
        ({"game": 5}, "There is no batched game 5"),
    ],
)
def test_a_config_of_wrong_types_is_refused_in_one_sentence(save_policy, change, message):
    folder = save_policy()
    about = json.loads((folder / checkpoint.ABOUT).read_text())
    (folder / checkpoint.ABOUT).write_text(json.dumps(about | change))
    with pytest.raises((CheckpointError, GameError), match=message) as refused:
        on_game.load(folder)
    assert exit_code(refused.value) == EXIT_USAGE


def test_parameters_that_are_not_finite_are_refused(save_policy):
    folder = save_policy()
    params = checkpoint.load_policy(folder)
    params["actor"]["bias"][3] = np.nan
    checkpoint.save_policy(folder, params, checkpoint.load_about(folder))
    with pytest.raises(CheckpointError, match="holds numbers that are not finite"):
        on_game.load(folder)
