"""What people are told: moves in words, and nothing of their own cards."""

from games.api import Action
from games.hanabi.config import config, deal, discard, hint, play
from games.hanabi.game import Hanabi, HanabiState
from games.hanabi.words import breakdown, in_public, note, standing, told

GAME = Hanabi(config(2))
NAMES = ["Ann", "Bob"]
CARDS = "R4 R4 Y4 Y4 G4 W2 R1 Y3 G1 B3"


def after(*moves: Action) -> HanabiState:
    state = GAME.initial_state()
    for action in (*map(deal, CARDS.split()), *moves):
        state = GAME.apply_action(state, action)
    return state


def test_moves_are_told_in_words() -> None:
    assert in_public(after(hint(1, "1")), NAMES) == "Ann tells Bob of 1: slots 1 and 3."
    assert in_public(after(hint(1, "W")), NAMES) == "Ann tells Bob of white: slot 0."
    assert in_public(after(hint(1, "1"), play(1), deal("B4")), NAMES) == "Bob plays R1."
    assert in_public(after(play(0)), NAMES) == "Ann plays R4, which does not fit: a life is lost."
    assert in_public(after(hint(1, "1"), discard(0)), NAMES) == "Bob discards W2."


def test_a_player_is_told_what_the_others_did_since_its_own_move() -> None:
    state = after(hint(1, "1"), play(1), deal("B4"))
    ann, bob = GAME.observations(state)
    assert told(ann, NAMES) == ["Bob plays R1."]
    assert told(bob, NAMES) == []
    assert "do not see your own cards" in note("default")


def test_score_so_far_and_at_the_end() -> None:
    state = after(hint(1, "1"), play(1), deal("B4"))
    assert standing(GAME.observations(state)[0]) == (
        "Points so far: 1, lives left: 3; once all lives are lost, points count nothing."
    )
    lost = after(play(0), deal("B5"), play(0), deal("B4"), play(0))
    assert breakdown(GAME.outcome(lost)) == "The last life was lost: 0 points lay on the table, and count nothing."
    assert breakdown({"bombed": False, "points": 17, "lives": 2}) == "17 points, with 2 of the lives left."


def test_drawing_hides_the_own_hand_alone() -> None:
    state = after(hint(1, "1"))
    rows = {line.split(":")[0].split(" ")[0]: line for line in GAME.render(state, 1).splitlines()}
    assert "R4" in rows["player_0"]
    assert all(card not in rows["player_1"] for card in ("W2", "R1", "Y3", "G1", "B3"))
    assert rows["player_1"].count("??") == 5
