"""Answers by a scaffold: every printed form of the paper, further good ones, and bad ones, each to its own kind."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from arena.agents.api import AgentFailure
from arena.language_players.notation import own_notations
from arena.language_players.scaffolds.reading import Reading, proposal_of, read
from games.hanabi.scaffolds import SCAFFOLDS

OWN = own_notations("hanabi-2p")
LEGAL = (
    "(Discard 0)",
    "(Discard 1)",
    "(Play 0)",
    "(Play 1)",
    "(Reveal player +1 color R)",
    "(Reveal player +1 rank 2)",
)


def said(text: str, scaffold: str = "sherlock", legal: Sequence[str] = LEGAL) -> Reading:
    return read(text, SCAFFOLDS[scaffold], legal, OWN)


def kind(text: str, scaffold: str = "sherlock") -> str:
    with pytest.raises(AgentFailure) as caught:
        said(text, scaffold)
    return caught.value.kind


def rated(*values: float | None) -> tuple[tuple[str, float | None], ...]:
    return tuple(zip(LEGAL, values, strict=True))


# The forms that the paper prints, with moves and words of our own.

WATSON = (
    "Reasoning: Nothing is left in the deck. My card 1 fits (R1, then R2). Move Ratings: Move 0 (Discard 0): -0.5 "
    "Move 1 (Discard 1): -0.5 Move 2 (Play 0): 0.2 Move 3 (Play 1): 1.0 Move 4 (Clue P0 color R): -1.0 "
    "Move 5 (Clue P0 rank 2): -1.0 Chosen Move Number: 3"
)
WATSON_SHORT = (
    "Reasoning: it fits.\n\nMove Ratings: Move 0: 0.5, Move 1: -0.3, Move 2: 1.0\n\n**Chosen Move Number:** 2"
)
WATSON_SYSTEM = "Reasoning: it fits.\n\nChosen Move Number: 2"
SPIN = 'I look at my hand.\n```json\n{"reason": "it fits", "action": 3}\n```'
SHERLOCK = json.dumps(
    {
        "move_ratings": [
            {"action": number, "rating": rating} for number, rating in enumerate([0.7, 0.8, -0.5, 1, -1, 0])
        ],
        "reason": "it fits",
        "action": 3,
    }
)
WITHOUT_COMMA = SHERLOCK.replace(', "action": 3}', ' "action": 3}')
"""As the paper prints an answer of a weaker model: after the reason a comma lacks."""
UNQUOTED = '{ "move_ratings": [ { action: 0, rating: 0.1}, { action: 2, rating: 0.9} ], reason: it fits, action: 2 }'
"""As its instructions show the form."""


def test_labelled_text_on_one_line_is_read() -> None:
    found = said(WATSON, "watson")
    assert found.action == "(Play 1)"
    assert found.ratings == rated(-0.5, -0.5, 0.2, 1.0, -1.0, -1.0)
    assert found.reason == "Nothing is left in the deck. My card 1 fits (R1, then R2)."
    assert not found.dropped


def test_labelled_text_in_lines_with_marks_is_read() -> None:
    found = said(WATSON_SHORT, "watson")
    assert (found.action, found.reason) == ("(Play 0)", "it fits.")
    assert found.ratings == rated(0.5, -0.3, 1.0, None, None, None)


def test_labelled_text_without_ratings_leaves_them_open() -> None:
    found = said(WATSON_SYSTEM, "watson")
    assert (found.action, found.ratings) == ("(Play 0)", rated(None, None, None, None, None, None))


def test_our_own_labels_are_read() -> None:
    found = said("Reason: it fits\nRatings: Move 0: 0.5, Move 5: -1\nChosen move: 3. (Play 1)", "watson")
    assert (found.action, found.reason) == ("(Play 1)", "it fits")
    assert found.ratings == rated(0.5, None, None, None, None, -1.0)


def test_ratings_by_name_in_labelled_text_are_not_taken_for_numbers() -> None:
    found = said("Ratings: (Play 0): 0.5, (Play 1): 1\nChosen move: 2", "watson")
    assert found.ratings == rated(None, None, None, None, None, None)


def test_a_reason_and_a_number_in_json_are_read() -> None:
    found = said(SPIN, "spin")
    assert (found.action, found.ratings, found.reason) == ("(Play 1)", (), "it fits")


def test_ratings_as_objects_are_read() -> None:
    assert said(SHERLOCK).ratings == rated(0.7, 0.8, -0.5, 1.0, -1.0, 0.0)


def test_of_a_broken_object_no_rating_becomes_the_move() -> None:
    assert kind(WITHOUT_COMMA) == "unparsable"
    assert kind(UNQUOTED) == "unparsable"


@pytest.mark.parametrize(
    "ratings",
    [
        {"0": 0.5, "3": 1},
        {"(Discard 0)": 0.5, "play 1": 1},
        [[0, 0.5], [3, 1]],
        [{"move": "(Discard 0)", "rating": "0.5"}, {"action": "3", "rating": 1}],
        [0.5, None, None, 1],
    ],
)
def test_ratings_are_read_in_every_form(ratings: Any) -> None:
    found = said(json.dumps({"ratings": ratings, "action": 3}))
    assert found.ratings == rated(0.5, None, None, 1.0, None, None)


@pytest.mark.parametrize(
    "action",
    [3, 3.0, "3", "(Play 1)", "play 1", "Play slot 1", "3. (Play 1)", "Move 3", "move 3: (Play 1)", [3], "`(Play 1)`"],
)
def test_a_move_is_named_by_number_or_name(action: Any) -> None:
    assert said(json.dumps({"action": action})).action == "(Play 1)"


def test_the_last_whole_object_counts() -> None:
    assert said('{"action": 0} no, {"action": 2}, I am sure. {}').action == "(Play 0)"


def test_an_object_with_a_move_is_read_where_none_has_an_action() -> None:
    assert said('{"move": "(Play 1)", "reason": "x"}').action == "(Play 1)"


@pytest.mark.parametrize(
    ("ratings", "dropped"),
    [
        ({"9": 1, "hope": 1}, {"rating: unknown move": 2}),
        ({"0": 1.5, "1": -7}, {"rating: not from -1 to 1": 2}),
        ({"0": "good", "1": True, "2": {"x": 1}, "3": "nan"}, {"rating: no number": 4}),
        ([[0, 1], [0, 0.5]], {"rating: two for one move": 2}),
        ([[0, 1], [0, 1]], {}),
        ([1, 1, 1, 1, 1, 1, 1, 1], {"rating: unknown move": 2}),
        ("all good", {"ratings: no list of them": 1}),
        ({"0": 10**400}, {"rating: not from -1 to 1": 1}),
    ],
)
def test_bad_ratings_are_dropped_and_counted_and_cost_no_move(ratings: Any, dropped: dict[str, int]) -> None:
    found = said(json.dumps({"ratings": ratings, "action": 3}))
    assert found.action == "(Play 1)"
    assert dict(found.dropped) == dropped


def test_a_key_of_ratings_that_is_there_twice_is_not_decided() -> None:
    found = said('{"ratings": {"0": 1, "0": 0.5, "1": 0.2}, "action": 3}')
    assert dict(found.dropped) == {"rating: two for one move": 2}
    assert found.ratings[:2] == (("(Discard 0)", None), ("(Discard 1)", 0.2))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("I would play card 1.", "no_move"),
        ('{"reason": "it fits"}', "no_move"),
        ('{"action": null}', "no_move"),
        ('{"action": ""}', "no_move"),
        ('{"action": []}', "no_move"),
        ('{"action": {"play": 1}}', "no_move"),
        ('{"action": true}', "no_move"),
        ('{"ratings": {"3": 1}, "reason": "the highest"}', "no_move"),
        ('{"action": [2, 3]}', "two_moves"),
        ('{"action": ["(Play 0)", "(Play 1)"]}', "two_moves"),
        ('{"action": ["play", 9]}', "illegal"),
        ('{"action": "2 or 3"}', "two_moves"),
        ('{"action": "(Play 0) and (Play 1)"}', "two_moves"),
        ('{"action": "3. (Play 0)"}', "two_moves"),
        ('{"action": 2, "action": 3}', "two_moves"),
        ('{"action": 2, "reason": "x", "move": "(Play 1)"}', "two_moves"),
        ('{"action": 6}', "illegal"),
        ('{"action": -1}', "illegal"),
        ('{"action": 2.5}', "illegal"),
        ('{"action": "(Play 4)"}', "illegal"),
        ('{"action": "hint +1 blue"}', "illegal"),
        ('{"action": "pass"}', "illegal"),
        ('{"action": "3 because it fits and helps"}', "illegal"),
        ('{"action": "3, or 2"}', "two_moves"),
        ('{"ratings": [{"action": 3, "rating": 1}, {"action": 2, "rating": 0}], "reason": "cut', "unparsable"),
        ('{"action": 3} or rather {"action": ', "unparsable"),
        ("{'action': 3}", "unparsable"),
        ('{"action": NaN}', "unparsable"),
    ],
)
def test_each_malformed_answer_is_of_its_own_kind(answer: str, expected: str) -> None:
    assert kind(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Reason: it fits", "no_move"),
        ("Chosen move:", "no_move"),
        ("Chosen move: 2\nNo. Chosen move: 3", "two_moves"),
        ("Chosen move: 2 or 3", "two_moves"),
        ("Chosen move: 17", "illegal"),
        ("Ratings: Move 3: 1\nReason: the highest", "no_move"),
    ],
)
def test_each_malformed_labelled_answer_is_of_its_own_kind(answer: str, expected: str) -> None:
    assert kind(answer, "watson") == expected


def test_both_keys_with_the_same_move_are_one_move() -> None:
    assert said('{"action": 3, "move": "(Play 1)"}').action == "(Play 1)"


def test_a_text_that_is_one_moves_name_and_anothers_number_is_not_decided() -> None:
    with pytest.raises(AgentFailure) as caught:
        said('{"action": "1"}', legal=("1", "2"))
    assert caught.value.kind == "two_moves"
    assert said('{"action": 1}', legal=("1", "2")).action == "2"


def test_names_that_begin_with_a_number_are_names() -> None:
    dice = ("24/18 13/11", "24/22 6/2", "2 of clubs")
    assert said('{"action": "24/18  13/11"}', legal=dice).action == dice[0]
    assert said('{"action": "2 of Clubs"}', legal=dice).action == dice[2]
    assert said('{"action": "2. 2 of clubs"}', legal=dice).action == dice[2]
    for answer in ("24/18 13/10", "2 of hearts"):
        with pytest.raises(AgentFailure) as caught:
            said(json.dumps({"action": answer}), legal=dice)
        assert caught.value.kind == "illegal"


def test_a_proposal_is_chosen_by_its_number() -> None:
    assert proposal_of('{"reason": "x", "proposal": 2}', 3) == 1
    assert proposal_of('{"proposal": "2"}', 3) == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"proposal": 4}', "illegal"),
        ('{"proposal": 0}', "illegal"),
        ('{"proposal": null}', "no_move"),
        ('{"proposal": [1, 2]}', "no_move"),
        ('{"action": 1}', "no_move"),
        ('{"proposal": 1, "proposal": 2}', "two_moves"),
        ('{"proposal": ', "unparsable"),
    ],
)
def test_a_bad_choice_among_proposals_is_of_its_own_kind(answer: str, expected: str) -> None:
    with pytest.raises(AgentFailure) as caught:
        proposal_of(answer, 3)
    assert caught.value.kind == expected
