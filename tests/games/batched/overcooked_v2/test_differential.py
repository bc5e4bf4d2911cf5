"""JaxMARL's OvercookedV2 and the reference in Python, side by side, where JaxMARL is installed.

All layouts: `cwm games check-batched overcooked-v2-LAYOUT`.
"""

import random
from dataclasses import replace

import jax
import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

from jaxmarl.environments.overcooked_v2.layouts import Layout
from jaxmarl.environments.overcooked_v2.overcooked import OvercookedV2 as Theirs

from games.batched import registry
from games.batched.differential import DifferentialReport
from games.batched.from_jaxmarl import FromJaxMarl
from games.batched.overcooked_v2.differential import compare, compare_in_batches, pair
from games.posg.overcooked_v2.kitchens import Kitchen, kitchen
from games.posg.overcooked_v2.model import OvercookedV2, make
from games.posg.overcooked_v2.rules import House

pytestmark = pytest.mark.extra("jaxmarl")

KINDS = {".": " ", "#": "W", "P": "P", "S": "B", "D": "X", "R": "R", "B": "L", "o": "0", "t": "1", "c": "2", "l": "3"}


@pytest.mark.parametrize(
    "game", ["overcooked-v2-grounded-coord-simple,steps=25", "overcooked-v2-forced-coord,steps=60"]
)
def test_games_are_those_of_jaxmarl_step_for_step(game: str) -> None:
    (report,) = compare_in_batches(game, 1, 0)
    assert report.differences == []
    assert report.games == 100
    assert report.steps == 100 * make(game).house.steps
    assert report.wins > 0 or "forced" not in game


def test_a_rule_that_differs_is_found() -> None:
    game = "overcooked-v2-forced-coord,steps=60"
    own = make(game)
    report = DifferentialReport()
    other = OvercookedV2(game, own.kitchen, replace(own.house, started=True))
    compare(pair(registry.make(game).env("default"), other), report, 20, jax.random.key(0), random.Random(0))
    assert any("state after" in difference for difference in report.differences)
    wrong = OvercookedV2(game, kitchen("coord_ring"), own.house)
    report = DifferentialReport()
    with pytest.raises((KeyError, AssertionError)):
        compare(pair(registry.make(game).env("default"), wrong), report, 20, jax.random.key(0), random.Random(0))


def test_four_chefs_in_a_narrow_kitchen_collide_as_in_jaxmarl() -> None:
    rows = ["##o###", "#0123D", "#....S", "##P###"]
    own = Kitchen("narrow", "ooo", rows)
    text = "\n".join("".join("A" if sign.isdigit() else KINDS[sign] for sign in row) for row in rows)
    theirs = FromJaxMarl(
        Theirs(Layout.from_string(text, possible_recipes=[[0, 0, 0]]), max_steps=40),
        paid_alike=True,
        seen_in_state=True,
    )
    model = OvercookedV2("narrow", own, House(steps=40))
    report = DifferentialReport()
    compare(pair(theirs, model), report, 100, jax.random.key(2), random.Random(2))
    assert report.differences == []
    assert report.steps == 4000
