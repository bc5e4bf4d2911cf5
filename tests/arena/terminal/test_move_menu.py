import random

import pytest

from arena.terminal import move_menu
from games import registry
from games.api import TERMINAL
from games.yokai import words

MOVES = ("move 0 to 2,4", "move 0 to 2,5", "move 11 to 2,4")


def test_moves_are_grouped_by_card_with_targets_in_columns() -> None:
    assert move_menu.menu(MOVES, 80, 9) == ["  move 0 to  2,4  2,5", "  move 11 to  2,4"]


def test_where_lines_are_few_a_verb_names_its_cards_and_how_to_see_the_rest() -> None:
    assert move_menu.menu(MOVES, 80, 1) == [
        "  move  0   11",
        "    3 moves, e.g. `move 0 to 2,4`; `moves 0` lists those of 0",
    ]
    assert move_menu.chosen_rows(MOVES, "11", 80) == ["  move 11 to  2,4"]


def test_moves_without_numbers_stand_beside_each_other() -> None:
    assert move_menu.menu(("Call", "Raise"), 80, 9) == ["    Call   Raise"]


def test_long_lists_break_into_lines_that_fit() -> None:
    lines = move_menu.menu(tuple(f"observe {number}" for number in range(40)), 40, 99)
    assert max(map(len, lines)) <= 40
    assert [int(word) for line in lines for word in line.split() if word != "observe"] == list(range(40))


@pytest.mark.parametrize("game", ["yokai-9c-2p", "yokai-16c-4p"])
def test_board_and_moves_of_yokai_fit_80_by_24(game: str) -> None:
    made = registry.make(game)
    state, rng = made.initial_state(), random.Random(1)
    while (player := made.current_player(state)) != TERMINAL:
        legal = made.legal_actions(state)
        if player >= 0:
            board = words.drawing(made.render(state, player)).splitlines()
            taken = sum(len(line) // 80 + 1 for line in board)
            told = words.told(made.observations(state)[player], made.info.player_names)
            shown = move_menu.menu(legal, 80, max(4, 24 - taken - 4))
            assert taken + len(shown) + min(2, len(told)) + 1 <= 24
            assert max(map(len, shown)) <= 80
        state = made.apply_action(state, rng.choice([action for action in legal if action != "end"] or legal))
