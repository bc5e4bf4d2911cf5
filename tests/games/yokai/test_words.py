import re

import pytest

from games import registry
from games.api import CHANCE
from games.yokai import words

NAMES = ("player_0", "player_1")


def after(*actions: str) -> dict:  # type: ignore[type-arg]
    """Returns a state after the first deal and some actions."""
    game = registry.make("yokai-9c-2p")
    state = game.initial_state()
    while game.current_player(state) == CHANCE:
        state = game.apply_action(state, game.legal_actions(state)[0])
    for action in actions:
        state = game.apply_action(state, action)
    return state  # type: ignore[no-any-return]


TURN = ("observe 7", "observe 0", "move 0 to 2,4", "reveal 1")


def test_a_turn_of_another_is_one_sentence() -> None:
    state = after(*TURN)
    seen = registry.make("yokai-9c-2p").observations(state)[1]
    [sentence] = words.told(seen, NAMES)
    colours = "-".join(state["hints"][1]["colours"])
    assert sentence == f"player_0 observed 7 and 0, moved 0 to 2,4, revealed hint 1 ({colours})."


def test_a_placed_hint_is_told_by_its_colours_and_card() -> None:
    game = registry.make("yokai-9c-2p")
    state = after(*TURN, "observe 1", "observe 2")
    state = game.apply_action(state, game.legal_actions(state)[0])
    place = next(action for action in game.legal_actions(state) if action.startswith("place 1"))
    state = game.apply_action(state, place)
    [sentence] = words.told(game.observations(state)[0], NAMES)
    hint = state["hints"][1]
    assert sentence.endswith(f"placed {'-'.join(hint['colours'])} on {hint['card']}.")


def test_nothing_is_told_again_within_a_turn() -> None:
    state = after(*TURN, "observe 1")
    assert words.told(registry.make("yokai-9c-2p").observations(state)[1], NAMES) == []


def test_the_drawing_keeps_every_card_and_hint() -> None:
    text = registry.make("yokai-9c-2p").render(after(*TURN), 1)
    shown = words.drawing(text)
    assert re.findall(r"\?\d", shown) == re.findall(r"\?\d", text)
    assert "Latest" not in shown
    assert "0: ?, face down; 1: " in shown


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (
            {"won": True, "face_down": 2, "face_up": 1, "correct": 1, "wrong": 1, "score": 12.0},
            "All colours lie together: 2 hints face down × 5 + 1 face up × 2 + 1 placed right − 1 placed wrong = 12.",
        ),
        (
            {"won": False, "ended_early": True, "wrong": 1, "return": -4.0},
            "2 colours do not lie together: −2, ended early: −1, 1 hints placed wrong: −1; together -4.",
        ),
    ],
)
def test_the_result_is_broken_down(end: dict[str, object], told: str) -> None:
    assert words.breakdown(end) == told


def test_the_value_of_a_win_is_told_as_far_as_it_is_known() -> None:
    game = registry.make("yokai-9c-2p")
    assert words.standing(game.observations(after())[0]).startswith("A win now is worth 20: 5 for each of 4 hints")
    assert words.standing(game.observations(after(*TURN))[1]).startswith("A win now is worth 17: 5 for each of 3")


def test_who_forgets_is_told_once_and_who_remembers_is_not() -> None:
    assert "never again" in words.note("default")
    assert words.note("memory") == ""
