"""What agents considered, as games keep it."""

import json
from typing import Any

import pytest

from arena.agents.thought import LONGEST, MOST_MOVES, of_policy, of_search


def test_moves_are_told_from_the_most_visited_one_on() -> None:
    told = of_search({"a": 1, "b": 5, "c": 1}, {"a": 0.5, "b": -1.0}, 7, [["card", [["red", 0.25]]]], {"c": 0.125})
    assert told == {
        "simulations": 7,
        "moves": [
            {"action": "b", "visits": 5, "value": -1.0},
            {"action": "a", "visits": 1, "value": 0.5},
            {"action": "c", "visits": 1, "prior": 0.125},
        ],
        "left_out": 0,
        "belief": [["card", [["red", 0.25]]]],
    }


def test_a_policy_is_told_by_its_shares() -> None:
    assert of_policy(["a", "b"], [0.25, 0.75]) == {
        "moves": [{"action": "b", "share": 0.75}, {"action": "a", "share": 0.25}],
        "left_out": 0,
    }


def test_of_many_moves_the_rest_is_counted() -> None:
    told = of_search({str(number): number for number in range(500)}, {}, 1, None)
    assert told is not None
    assert (len(told["moves"]), told["left_out"]) == (MOST_MOVES, 500 - MOST_MOVES)
    assert len(of_policy([str(number) for number in range(500)], [0.002] * 500)["moves"]) == MOST_MOVES


@pytest.mark.parametrize(
    ("visits", "values", "simulations"),
    [(None, {}, 1), ([["a", 1]], {}, 1), ({"a": 1}, {}, "7"), ({"a": 1}, {}, None), ({"a": 1}, {}, True)],
)
def test_what_is_no_search_is_not_told(visits: Any, values: Any, simulations: Any) -> None:
    assert of_search(visits, values, simulations, None) is None


@pytest.mark.parametrize(
    "belief",
    [7, "x", {"a": 1}, [7], [[]], [["a"]], [["a", 7]], [["a", [7]]], [["a", [["b", 2]]]], [["a", [["b", "c"]]]]],
)
def test_what_untrusted_programs_say_is_kept_only_in_the_form_of_it(belief: Any) -> None:
    values = {"a": float("nan"), "b": "1", "x" * 999: float("inf")}
    told = of_search({"a": 1, "b": 2, "c": -1, "d": 1.5, "x" * 999: 1}, values, 3, belief, {"a": 10**400, "b": None})
    assert told is not None
    assert [(move["action"], move["visits"]) for move in told["moves"]] == [("b", 2), ("a", 1), ("x" * LONGEST, 1)]
    assert all(set(move) == {"action", "visits"} for move in told["moves"])
    assert "belief" not in told
    json.dumps(told, allow_nan=False)
