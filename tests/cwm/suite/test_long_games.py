"""Telling steps of long games: what no other test shows is shown, within the room that there is."""

from typing import Any

from arena.runs import inputs
from arena.runs.task import make_task
from cwm.suite import long_games, rendering, selection
from cwm.suite.types import UnitTest

KITCHEN = "overcooked-v2-cramped-room"


def step(number: int, item: list[str], paid: float = 0.0, brief: bool = True) -> UnitTest:
    data: dict[str, Any] = {
        "observations": [{"item": item}],
        "actions": ["stay"],
        "rewards": [paid],
        "over": [False],
    }
    return UnitTest(f"step_0_{number}", "step", data | ({"brief": True} if brief else {}), 0, number)


def ids(tests: list[UnitTest]) -> list[str]:
    return [test.id for test in tests]


def test_each_thing_is_shown_once_and_what_pays_first() -> None:
    tests = [step(0, []), step(1, ["plate"]), step(2, ["plate"]), step(3, ["onion"]), step(4, [], 20.0)]
    assert ids(long_games.telling(tests, tests[:1], lambda _: 100)) == ["step_0_4", "step_0_1", "step_0_3"]
    assert long_games.telling(tests, tests, lambda _: 100) == []


def test_of_two_that_show_as_much_the_shorter_is_taken() -> None:
    tests = [step(0, []), step(1, ["plate"]), step(2, ["plate"])]
    lengths = {"step_0_0": 10, "step_0_1": 200, "step_0_2": 50}
    assert ids(long_games.telling(tests, tests[:1], lambda test: lengths[test.id])) == ["step_0_2"]


def test_they_have_no_more_room_than_there_is() -> None:
    tests = [step(0, []), step(1, ["plate"]), step(2, ["onion"])]
    half = long_games.ROOM // 2 + 1
    assert len(long_games.telling(tests, tests[:1], lambda _: half)) == 1
    assert long_games.telling(tests, tests[:1], lambda _: long_games.ROOM + 1) == []


def test_games_that_are_not_long_have_none() -> None:
    assert long_games.telling([step(0, [], brief=False), step(1, ["plate"], 20.0, brief=False)], [], lambda _: 10) == []


def test_a_kitchens_prompt_shows_a_delivery_and_how_it_came_about_in_few_words() -> None:
    task = make_task(inputs.registered(KITCHEN, 5, 0, joint=True))
    chosen = selection.select_for_prompt(task.tests, None)
    steps = [test for test in chosen if test.kind == "step" and test.data["actions"]]
    assert {test.data["rewards"][0] for test in steps} == {0.0, 20.0}
    texts = [rendering.render([test]) for test in steps]
    assert any("state = played(state, [[" in text for text in texts)
    assert sum(map(len, texts)) < 30_000
    assert any("'cooked'" in text for text in texts)
