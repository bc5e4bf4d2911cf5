"""Moves as language models write them: every documented notation of every game, and what is never guessed."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.language_players.notation import WRITERS, NotationError, own_notations, read
from games import registry
from games.api import CHANCE, TERMINAL
from games.army5x5a import notation as army5x5a
from games.backgammon import notation as backgammon
from games.card_names import cards
from games.gin_rummy import notation as gin_rummy
from games.hand_of_war import notation as hand_of_war
from games.yokai import notation as yokai

MOVES = 60
"""Decisions a game that the certificate reads back, along random games."""


def decisions(game_id: str) -> list[tuple[list[str], str]]:
    """Returns the legal actions of random games' decisions, and one of each."""
    game, rng = registry.make(game_id), random.Random(f"certificate/{game_id}")
    found: list[tuple[list[str], str]] = []
    while len(found) < MOVES:
        state = game.initial_state()
        while (player := game.current_player(state)) != TERMINAL and len(found) < MOVES:
            legal = game.legal_actions(state)
            action = rng.choice(legal)
            if player != CHANCE:
                found.append((legal, action))
            state = game.apply_action(state, action)
    return found


@pytest.mark.parametrize("game_id", registry.ids())
def test_certificate_a_legal_move_in_every_documented_notation_is_read_as_that_move(game_id: str) -> None:
    own = own_notations(game_id)
    found = decisions(game_id)
    for name, write in own.writers.items():
        assert [read(write(action), legal, own) for legal, action in found] == [a for _, a in found], name
    for name, write in WRITERS.items():
        # These are documented to be read where they fit one legal action alone; the exact name always does.
        sayable = [(legal, action) for legal, action in found if _alone(write, action, legal)]
        assert [read(write(action), legal, own) for legal, action in sayable] == [a for _, a in sayable], name
        if name in ("exact name", "spaces", "quoted"):
            assert len(sayable) == len(found), name


def _alone(write: Any, action: str, legal: list[str]) -> bool:
    written = write(action)
    return bool(written) and sum(write(other) == written for other in legal) == 1


@pytest.mark.parametrize(
    ("move", "action"),
    [
        ("x(0,2)", "x(0,2)"),
        (" X ( 0, 2 ) ", "x(0,2)"),
        ("`x(0,2)`", "x(0,2)"),
        ("x 0 2", "x(0,2)"),
        (["x", 0, 2], "x(0,2)"),
        (["x", [0, 2]], "x(0,2)"),
        ([0, 2], "x(0,2)"),
        ("(0, 2)", "x(0,2)"),
        ("0,2", "x(0,2)"),
        ("o(0,2)", None),
        ("x(2,0)", None),
        (2, None),
        ("play x(0,2)", None),
        ("", None),
        ("x(0,2), or x(1,1)", None),
    ],
)
def test_a_move_means_one_legal_action_or_none(move: Any, action: str | None) -> None:
    assert read(move, ["x(0,2)", "x(1,1)", "x(2,2)"]) == action


@pytest.mark.parametrize("move", [None, True, {"row": 1}, [], 1.5, [[[[[1]]]]], ["x", None], float("inf")])
def test_a_move_that_is_no_text_number_or_list_is_in_no_notation(move: Any) -> None:
    with pytest.raises(NotationError, match="is no text, whole number or list of these"):
        read(move, ["x(0,2)"])


def test_what_fits_two_legal_actions_is_not_guessed() -> None:
    assert read("B", ["b", "b "]) is None
    assert read([3], ["take 3", "give 3"]) is None
    assert read("n", ["N", "n"]) == "n"


def test_a_minus_before_a_number_is_part_of_it_and_a_hyphen_between_words_is_not() -> None:
    assert read("bid -1", ["bid 1"]) is None
    assert read(-1, ["bid 1", "bid -1"]) == "bid -1"
    assert read("e2e4", ["e2-e4"]) == "e2-e4"


def test_a_game_without_notations_of_its_own_has_none() -> None:
    assert own_notations("tic_tac_toe").writers == {}
    assert own_notations("tic_tac_toe").description == ""


@pytest.mark.parametrize(
    ("move", "action"),
    [
        ("Move card 4 to row 2, column 5", "move 4 to 2,5"),
        (["move", 4, 2, 5], "move 4 to 2,5"),
        ("place hint 1 on (4, 4)", "place 1 at 4,4"),
        ("observe card 04", "observe 4"),
        ("end the game", "end"),
        ("no-op", "no-op"),
        ("move 4", None),
        ("observe 4 and then 5", None),
        ("reveal the blue hint 1", None),
        ("observe " + "9" * 5000, "observe " + "9" * 5000),
    ],
)
def test_words_and_brackets_may_be_added_to_a_move_of_yokai(move: Any, action: str | None) -> None:
    assert tuple(yokai.candidates(move)) == (() if action is None else (action,))


@pytest.mark.parametrize(
    ("notations", "move", "action"),
    [
        (hand_of_war, "Play the Queen of Hearts", "play QH"),
        (hand_of_war, "q♥", "play QH"),
        (hand_of_war, "QH KS", None),
        (hand_of_war, "queen", None),
        (gin_rummy, "discard the ten of spades", "Ts"),
        (gin_rummy, "10♠", "Ts"),
        (gin_rummy, ["9c", "8c", "7c"], "7c8c9c"),
        (gin_rummy, "lay 7h, 7s, 7d", "7s7d7h"),
        (gin_rummy, "Lay the jack of clubs, ten of clubs and queen of clubs", "TcJcQc"),
        (gin_rummy, "ac2c3c", "Ac2c3c"),
        (gin_rummy, "take the upcard", "Draw upcard"),
        (gin_rummy, "draw from the stock", "Draw stock"),
        (gin_rummy, "KNOCK", "Knock"),
        (gin_rummy, "knock with Ts", None),
        (gin_rummy, "discard", None),
        (army5x5a, "move a2 to c2", "A2_to_C2"),
        (army5x5a, "a2 → c2", "A2_to_C2"),
        (army5x5a, ["A2", "C2"], "A2_to_C2"),
        (army5x5a, "A2 C2 D2", None),
        (army5x5a, "Nc2", None),
        (backgammon, "8/7* and 13/7", "13/7 8/7"),
        (backgammon, "13/7/4", "13/7 7/4"),
        (backgammon, "20/16, bar/20", "bar/20 20/16"),
        (backgammon, ["2/off", "3/off"], "3/off 2/off"),
        (backgammon, "6/off(2)", "6/off 6/off"),
        (backgammon, "No move", "pass"),
        (backgammon, "13/7 with a 6", None),
        (backgammon, [], None),
    ],
)
def test_a_game_reads_its_own_notations_and_nothing_beside_them(notations: Any, move: Any, action: str | None) -> None:
    assert tuple(notations.candidates(move)) == (() if action is None else (action,))


def test_cards_that_stand_side_by_side_are_told_apart() -> None:
    assert cards("ts10d9♣ace of hearts") == ("Ts", "Td", "9c", "Ah")
    assert cards("ts and 9c") == ()
    assert cards("") == ()


def test_an_illegal_move_in_a_notation_of_the_game_is_not_read_as_another() -> None:
    own = own_notations("yokai-9c-2p")
    assert read("observe card 4", ["observe 3"], own) is None
    assert read("observe card 3", ["observe 3"], own) == "observe 3"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=8,
)


@given(json_values)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_whatever_a_move_is_it_is_a_legal_action_none_or_no_notation(move: Any) -> None:
    legal = ["observe 3", "move 3 to 1,2", "end"]
    try:
        found = read(move, legal, own_notations("yokai-9c-2p"))
    except NotationError:
        return
    assert found is None or found in legal
