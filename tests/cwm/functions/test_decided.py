"""How a tournament decided, in words and in records."""

import json

import pytest

from cwm.functions.decided import Decided, FreshDeals, Played

FRESH = FreshDeals(8, 0.5, 0.125, -0.5, 0.125, 1.0, 0.25)
NAMES = ["none", "uniform", "0", "1"]


@pytest.mark.parametrize(
    ("decided", "words"),
    [
        (
            Decided(2, 2, (), 4, "told apart", FRESH),
            "candidate 0 told apart after 4 deals; on 8 fresh deals 0.50 ± 0.12, the planner without -0.50 ± 0.12, "
            "difference 1.00 ± 0.25",
        ),
        (
            Decided(0, 2, (0, 1), 40, "deals"),
            "not told apart after 40 deals: candidate 0 leads, none and uniform may be as good; "
            "none stays, the simplest",
        ),
        (
            Decided(1, 3, (1, 2), 8, "deals"),
            "not told apart after 8 deals: candidate 1 leads, uniform and candidate 0 may be as good; "
            "uniform stays, the simplest",
        ),
        (
            Decided(0, 1, (0, 2, 3), 8, "deals"),
            "not told apart after 8 deals: uniform leads, none, candidate 0 and candidate 1 may be as good; "
            "none stays, the simplest",
        ),
        (
            Decided(0, 0, (2,), 1, "seconds", None, 12),
            "not told apart after 1 deal at 12 simulations a move, when the time was used: none leads, "
            "candidate 0 may be as good",
        ),
    ],
)
def test_words_say_whether_the_leader_was_told_apart(decided: Decided, words: str) -> None:
    assert decided.words(NAMES) == words
    told = decided.to_json(NAMES)
    assert told["words"] == words
    assert told["kept"] == NAMES[decided.kept]
    assert told["not_told_apart_from"] == [NAMES[index] for index in decided.level]


@pytest.mark.parametrize(
    "decided", [None, Decided(1, 1, (), 8, "told apart", FRESH), Decided(0, 1, (0,), 8, "deals", None, 12)]
)
def test_stored_tournament_is_read_as_it_was(decided: Decided | None) -> None:
    played = Played((0.5, 1.0), decided)
    assert Played.from_record(json.loads(json.dumps(played.to_json()))) == played


def test_tournament_of_an_older_run_has_scores_alone() -> None:
    assert Played.from_record({"kind": "value_tournament", "scores": [0, 0.5]}) == Played((0.0, 0.5))
    assert Played((0.0, 0.5)).to_json() == {"scores": [0.0, 0.5]}
