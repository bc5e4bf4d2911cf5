"""What tables tell of the course of a game of Hanabi."""

from typing import Any

from games import registry
from games.api import CHANCE
from games.hanabi import figures

DECK = "R1 R1 R2 R3 R1 R5 R4 R2 R3 R4"


def played(*moves: str) -> Any:
    """Returns figures of tiny Hanabi so far: one life, hands R1 R1 and R2 R3."""
    game = registry.make("hanabi-tiny-2p")
    deck = iter(game.named_deck(DECK))
    state, course, told = game.initial_state(), [], iter(moves)
    while True:
        action = next(deck) if game.current_player(state) == CHANCE else next(told, None)
        if action is None:
            return figures.course(course, state)
        course.append((state, action))
        state = game.apply_action(state, action)
        if game.current_player(state) < CHANCE:
            return figures.course(course, state)


def test_a_hint_that_tells_what_is_known_tells_nothing_new() -> None:
    found = played("(Reveal player +1 rank 2)", "(Reveal player +1 rank 1)", "(Reveal player +1 rank 2)")
    assert found == {
        "lives left": 1.0,
        "bombs": 0.0,
        "hints": 3.0,
        "hints that told nothing": 1.0,
        "plays known wrong": 0.0,
    }


def test_a_hint_of_the_only_colour_tells_nothing_new() -> None:
    assert played("(Reveal player +1 color R)")["hints that told nothing"] == 1.0


def test_a_play_is_known_wrong_by_hints_and_fireworks_alone() -> None:
    unknown = played("(Reveal player +1 color R)", "(Play 0)")
    assert (unknown["bombs"], unknown["plays known wrong"], unknown["lives left"]) == (1.0, 0.0, 0.0)
    known = played("(Reveal player +1 rank 2)", "(Play 0)")
    assert (known["bombs"], known["plays known wrong"]) == (1.0, 1.0)
    right = played("(Play 0)", "(Play 0)", "(Reveal player +1 rank 3)", "(Play 0)")
    assert (right["bombs"], right["plays known wrong"], right["lives left"]) == (0.0, 0.0, 1.0)


def test_scores_are_in_every_outcome() -> None:
    game = registry.make("hanabi-tiny-2p")
    assert set(figures.SCORES) <= set(game.outcome(game.initial_state()))
