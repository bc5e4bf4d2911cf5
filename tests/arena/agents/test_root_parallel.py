from typing import Any

from arena.agents.root_parallel import merged


def decision(visits: dict[str, int], values: dict[str, float], **fields: Any) -> dict[str, Any]:
    best = max(visits, key=lambda action: visits[action]) if visits else None
    plain = {"action": best, "visits": visits, "values": values, "simulations": sum(visits.values())}
    return plain | {"fallback": None, "belief": {}, "errors": {}} | fields


def test_visits_and_returns_are_added_up_and_the_most_visited_action_wins() -> None:
    one = decision({"a": 6, "b": 4}, {"a": 1.0, "b": 0.5}, errors={"KeyError: 1": 2})
    two = decision({"b": 7, "c": 3}, {"b": 2.0, "c": 0.0}, errors={"KeyError: 1": 1})
    assert merged([one, two]) == {
        "action": "b",
        "visits": {"a": 6, "b": 11, "c": 3},
        "values": {"a": 1.0, "b": 16.0 / 11.0, "c": 0.0},
        "simulations": 20,
        "fallback": None,
        "errors": {"KeyError: 1": 3},
    }


def test_ties_go_to_the_higher_mean_and_then_to_the_earlier_action() -> None:
    better = [decision({"a": 5, "b": 5}, {"a": 0.0, "b": 1.0})]
    assert merged(better)["action"] == "b"
    equal = [decision({"b": 5, "a": 5}, {"a": 1.0, "b": 1.0}), decision({"a": 5, "b": 5}, {"a": 1.0, "b": 1.0})]
    assert merged(equal)["action"] == "b"


def test_only_move_without_a_search_is_played() -> None:
    assert merged([decision({"pass": 0}, {})] * 2)["action"] == "pass"


def test_search_that_gave_up_has_no_say_while_another_did_not() -> None:
    lost = decision({}, {}, action="z", fallback="no history", errors={"ValueError": 9})
    found = merged([lost, decision({"a": 3}, {"a": 1.0})])
    assert (found["action"], found["fallback"], found["errors"]) == ("a", None, {"ValueError": 9})


def test_where_all_searches_gave_up_the_first_action_is_played_and_the_cause_told() -> None:
    without = decision({}, {}, action=None, fallback="nothing at all")
    lost = decision({}, {}, action="z", fallback="no history")
    assert merged([without, lost])["action"] == "z"
    assert merged([without, lost])["fallback"] == "no history"
    assert merged([without, without])["action"] is None


def test_answer_that_is_no_decision_is_handed_on_as_it_is() -> None:
    fine = decision({"a": 3}, {"a": 1.0})
    for wrong in (
        None,
        "a",
        {"action": "a"},
        fine | {"visits": {"a": -1}},
        fine | {"visits": {"a": True}},
        fine | {"visits": {}},
        fine | {"values": {"a": "much"}},
        fine | {"values": {"a": 10**400}},
        fine | {"values": {"a": float("nan")}},
        fine | {"visits": {"a": 10**400}},
        fine | {"errors": []},
        fine | {"simulations": None},
    ):
        assert merged([fine, wrong]) is wrong
