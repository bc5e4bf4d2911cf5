"""Tests of a first prompt chosen for what they tell: as much as fits, no state twice, as long as the usual choice."""

from collections.abc import Sequence

import pytest

from cwm.suite import rendering
from cwm.suite.build import BuildOptions, build
from cwm.suite.informative import SLACK, informative
from cwm.suite.selection import PromptOptions, select_for_prompt
from cwm.suite.types import UnitTest
from cwm.trajectories.recorded import collect
from cwm.trajectories.varied import action_kind
from games import registry
from games.api import TERMINAL, Json

TELLING = PromptOptions(mode="telling")


def move(
    number: int,
    state: Json,
    next_state: Json,
    action: str = "go",
    legal: Sequence[str] = ("go", "stop"),
    player: int = 0,
) -> UnitTest:
    data = {"state": state, "next_state": next_state, "action": action, "legal_actions": list(legal), "player": player}
    return UnitTest(f"transition-0-{number}", "transition", data | {"rewards": [0.0, 0.0]}, 0, number)


def steps(tests: Sequence[UnitTest]) -> list[int]:
    return [test.step for test in tests]


def alike(number: int) -> UnitTest:
    """Returns one of many moves that show the same: the count goes up by one."""
    return move(number, {"count": 100 + number, "open": True}, {"count": 101 + number, "open": True})


OTHERS = {
    "another kind of change": move(29, {"count": 129, "open": True}, {"count": 129, "open": False}),
    "a longer chain": move(29, {"count": 129, "open": True}, {"count": 0, "open": False, "won": 1}),
    "a rare action": move(29, {"count": 129, "open": True}, {"count": 130, "open": True}, "stop"),
    "a forced move": move(29, {"count": 129, "open": True}, {"count": 130, "open": True}, legal=["go"]),
    "a rare state": move(29, {"count": 129, "open": False}, {"count": 130, "open": False}),
    "a last move": move(29, {"count": 129, "open": True}, {"count": 130, "open": True}),
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_what_shows_something_else_is_shown_beside_many_moves_that_are_alike(name: str) -> None:
    end = UnitTest("transition-0-30", "transition", {
        "state": {"count": 0, "open": None}, "player": TERMINAL, "legal_actions": [], "rewards": [1.0, -1.0],
        "action": None, "next_state": None,
    }, 0, 30)  # fmt: skip
    last = end if name == "a last move" else alike(30)
    room = 30 if last is end else 20
    chosen = informative([*map(alike, range(29)), OTHERS[name], last], room, lambda test: 10)
    assert 29 in steps(chosen)
    assert len(chosen) == room // 10


def test_no_state_is_shown_twice() -> None:
    twice = [move(0, {"a": 1}, {"a": 2}), move(1, {"a": 1}, {"b": 3}, "stop"), move(2, {"a": 5}, {"a": 6})]
    chosen = informative(twice, 30, lambda test: 10)
    assert len(chosen) == 2
    assert 2 in steps(chosen)


def test_a_short_test_is_preferred_among_those_that_show_the_same() -> None:
    chosen = informative([alike(number) for number in range(6)], 20, lambda test: 40 - 5 * test.step)
    assert steps(chosen) == [5]


def test_nothing_is_chosen_from_nothing_and_nothing_that_is_longer_than_the_room() -> None:
    assert informative([], 100, lambda test: 1) == []
    assert informative([alike(0)], 100, lambda test: 106) == []
    assert steps(informative([alike(0)], 100, lambda test: 105)) == [0]


@pytest.mark.parametrize(
    "game", ["tic_tac_toe", "connect_four", "leduc_poker", "kuhn_poker", "bargaining", "hand_of_war"]
)
def test_the_choice_is_as_long_as_the_usual_one_and_shows_every_kind_of_action_and_of_end(game: str) -> None:
    made = registry.make(game)
    kinds = (
        ("transition", "random_play") if made.info.perfect_information else ("transition", "inference", "random_play")
    )
    tests = build(collect(made, 5, 0), BuildOptions(kinds=kinds))
    usual, chosen = select_for_prompt(tests, None), select_for_prompt(tests, None, TELLING)
    assert chosen == select_for_prompt(list(tests), None, TELLING)
    assert chosen != usual
    lengths = [len(rendering.render(shown)) for shown in (usual, chosen)]
    assert lengths[1] == pytest.approx(lengths[0], rel=SLACK)
    moves = [test for test in chosen if test.kind == "transition"]
    states = [rendering.render([move]).split("state = ", 1)[1].splitlines()[0] for move in moves]
    assert len(states) == len(set(states))
    for what in (action_kinds, ends, infers):
        assert what(chosen) >= what(usual), what
    assert [test.id for test in chosen if test.kind == "random_play"] == ["random_play-0"]


def action_kinds(tests: Sequence[UnitTest]) -> set[str]:
    actions = [test.data["action"] for test in tests if test.kind == "transition" and test.data["action"]]
    return {action_kind(action).split(" ")[0] for action in actions}


def ends(tests: Sequence[UnitTest]) -> set[tuple[int, ...]]:
    over = [test.data["rewards"] for test in tests if test.kind == "transition" and test.data["player"] == TERMINAL]
    return {tuple((reward > 0) - (reward < 0) for reward in rewards) for rewards in over}


def infers(tests: Sequence[UnitTest]) -> set[int]:
    return {test.data["player"] for test in tests if test.kind == "inference"}


def test_a_limit_on_tests_holds() -> None:
    tests = build(collect(registry.make("tic_tac_toe"), 2, 0), BuildOptions(kinds=("transition",)))
    assert len(select_for_prompt(tests, None, PromptOptions(mode="telling", on_init=3))) == 3
