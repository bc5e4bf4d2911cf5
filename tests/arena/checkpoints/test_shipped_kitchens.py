"""The policies that ship for a kitchen: what they say of themselves, and that two strangers cook together."""

from typing import Any

import pytest

from arena.checkpoints import on_game
from arena.checkpoints.places import SHIPPED
from search.learn import checkpoint

KITCHEN = "overcooked-v2-cramped-room"
POLICIES = sorted(path.parent.name for path in (SHIPPED / KITCHEN).glob(f"*/{checkpoint.ABOUT}"))


def test_three_policies_of_each_method_ship() -> None:
    assert [f"{method}-s{seed}" for method in ("sa", "sp") for seed in range(3)] == POLICIES


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_says_how_it_was_trained(name: str) -> None:
    policy = on_game.load(on_game.find(name, KITCHEN))
    about = policy.about
    assert (policy.game, policy.name, policy.view) == (KITCHEN, name, "default")
    assert (about["scale"], name) == ("reduced", f"{about['method']}-s{about['seed']}")
    assert about["steps"] == 2_998_272


@pytest.mark.parametrize("others", ["sp-s1", "sa-s0"])
def test_strangers_deliver_dish_after_dish(cwm: Any, others: str) -> None:
    played = cwm("play", KITCHEN, "--agent", "ippo:sp-s0", "--agent", f"ippo:{others}", "--json")
    assert played.code == 0, played.err
    assert played.json["returns"][0] == played.json["returns"][1] >= 160.0
