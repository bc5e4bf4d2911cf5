"""Layouts of OvercookedV2 as rows of the batched registry, which need neither JAX nor JaxMARL."""

import subprocess
import sys

import pytest

from games.api import GameError
from games.batched import registry
from games.posg.overcooked_v2 import layouts


def test_23_layouts_are_batched_games_and_none_needs_jaxmarl_to_be_described():
    code = (
        "import sys; from games.batched import registry; "
        "found = [i for i in registry.ids() if i.startswith('overcooked-v2-')]; "
        "print(len(found), registry.describe('overcooked-v2-cramped-room,sight=2').id, "
        "{'jax', 'jaxmarl', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "23 overcooked-v2-cramped-room,sight=2 set()"


def test_the_challenges_are_played_as_the_paper_plays_them_and_the_old_layouts_as_they_were():
    def told(game_id):
        return layouts.settings(layouts.parse(game_id)[1])

    usual = {
        "agent_view_size": None,
        "random_agent_positions": False,
        "negative_rewards": False,
        "sample_recipe_on_delivery": False,
        "indicate_successful_delivery": False,
        "start_cooking_interaction": False,
        "random_reset": False,
        "max_steps": 400,
    }
    challenge = {
        "agent_view_size": 2,
        "random_agent_positions": True,
        "negative_rewards": True,
        "sample_recipe_on_delivery": True,
    }
    assert told("overcooked-v2-cramped-room") == usual
    assert told("overcooked-v2-demo-cook-wide") == usual | challenge
    assert told("overcooked-v2-test-time-simple") == usual | challenge | {"indicate_successful_delivery": True}
    assert told("overcooked-v2-test-time-simple,sight=all,steps=50")["agent_view_size"] is None
    assert told("overcooked-v2-test-time-simple,sight=all,steps=50")["max_steps"] == 50


def test_ids_that_mean_the_same_game_are_one():
    assert layouts.canonical("overcooked-v2-test-time-wide,delivery=signal,sight=2") == "overcooked-v2-test-time-wide"
    swapped = "overcooked-v2-cramped-room,delivery=signal,sight=2"
    assert registry.describe(swapped).id == "overcooked-v2-cramped-room,sight=2,delivery=signal"


@pytest.mark.parametrize(
    ("game_id", "words"),
    [
        ("overcooked-v2-kitchen", "There is no batched game 'overcooked-v2-kitchen'"),
        ("overcooked-v2-cramped-room,view=2", "'view' in .* is no option: options of overcooked-v2 are sight, starts"),
        ("overcooked-v2-cramped-room,sight=2,sight=3", "'sight' in .* is said twice"),
        ("overcooked-v2-cramped-room,sight=0", "sight is '0' in .*: expected a whole number from 1 on or all"),
        ("overcooked-v2-cramped-room,delivery", "delivery is '' in .*: expected silent or signal"),
    ],
)
def test_what_is_no_layout_or_option_is_refused_with_what_there_is(game_id, words):
    with pytest.raises(GameError, match=words):
        registry.describe(game_id)


def test_without_jaxmarl_one_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxmarl", None)
    for name in [name for name in sys.modules if name.startswith(("games.batched.overcooked_v2.game", "jaxmarl."))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(GameError, match=r"is a game of JaxMARL, which needs jaxmarl.*: pip install .*\[jaxmarl\]"):
        registry.make("overcooked-v2-cramped-room")


def test_other_play_is_of_layouts_whose_recipes_have_several_ingredients():
    assert registry.describe("overcooked-v2-grounded-coord-ring").symmetries == {"op-ing": "Other-Play, ingredients"}
    assert registry.describe("overcooked-v2-counter-circuit").symmetries == {}
