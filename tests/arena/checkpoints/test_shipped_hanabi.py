"""The policies that ship for small Hanabi: what they say of themselves, and that they play at the arena's table."""

from typing import Any

import pytest

from arena.checkpoints import on_game
from arena.checkpoints.places import SHIPPED
from search.learn import checkpoint

STEPS = {"hanabi-mini-2p": 9_999_360, "hanabi-tiny-2p": 1_999_744}
POINTS = {"hanabi-mini-2p": 7.5, "hanabi-tiny-2p": 1.5}
"""At least, of a mean over five deals with itself."""


@pytest.mark.parametrize("game", STEPS)
def test_three_seeds_ship_and_say_how_they_were_trained(game: str) -> None:
    names = sorted(path.parent.name for path in (SHIPPED / game).glob(f"*/{checkpoint.ABOUT}"))
    assert names == ["sp-s0", "sp-s1", "sp-s2"]
    for name in names:
        policy = on_game.load(on_game.find(name, game))
        assert (policy.game, policy.name, policy.view) == (game, name, "default")
        assert (policy.about["scale"], policy.about["steps"]) == ("reduced", STEPS[game])


@pytest.mark.parametrize("game", STEPS)
def test_a_policy_plays_with_itself_in_the_arena(cwm: Any, game: str) -> None:
    agent = ("--agent", "ippo:sp-s0")
    played = [cwm("play", game, *agent, *agent, "--seed", str(seed), "--json") for seed in range(5)]
    assert [one.code for one in played] == [0] * 5, played[0].err
    points = [one.json["returns"] for one in played]
    assert all(first == second for first, second in points)
    assert sum(first for first, _ in points) / 5 >= POINTS[game]
