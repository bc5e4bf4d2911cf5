"""What a belief says of each part of the state."""

import json
from typing import Any

import pytest

from search.marginals import LONGEST, MOST_PARTS, MOST_VALUES, shares


def test_what_all_states_agree_on_is_left_out() -> None:
    believed = [(0.25, {"pot": 2, "cards": [1, 5]}), (0.75, {"pot": 2, "cards": [1, 0]})]
    assert shares(believed) == [["cards.1", [["0", 0.75], ["5", 0.25]]]]


def test_a_hand_of_cards_has_shares_by_card_whatever_their_order() -> None:
    believed = [(1.0, {"hands": [["As", "2s"]]}), (1.0, {"hands": [["3s", "As"]]})]
    assert shares(believed) == [["hands.0", [["As", 1.0], ["2s", 0.5], ["3s", 0.5]]]]


def test_colours_that_occur_twice_have_shares_by_place() -> None:
    believed = [(1.0, ["red", "blue", "red"]), (3.0, ["red", "red", "blue"])]
    assert shares(believed) == [["1", [["red", 0.75], ["blue", 0.25]]], ["2", [["blue", 0.75], ["red", 0.25]]]]


def test_what_only_some_states_have_is_told() -> None:
    assert shares([(1.0, {"face_down": None}), (1.0, {"face_down": None, "more": "yes"})]) == [["more", [["yes", 0.5]]]]


@pytest.mark.parametrize("believed", [[], [(0.0, {"a": 1}), (0.0, {"a": 2})], [(1.0, {"a": 1})], [(1.0, [])]])
def test_where_nothing_is_open_there_is_nothing_to_tell(believed: Any) -> None:
    assert shares(believed) == []


def test_a_large_belief_is_told_in_part() -> None:
    believed = [(1.0, [f"{number} of {part}" + "x" * 500 for part in range(200)] * 2) for number in range(30)]
    told = shares(believed)
    assert len(told) == MOST_PARTS
    assert all(len(values) == MOST_VALUES for _, values in told)
    assert all(len(value) <= LONGEST for _, values in told for value, _ in values)
    json.dumps(told, allow_nan=False)
