"""Two players who see all cards: positions solved by hand, and moves as the rules have them."""

import pytest

from games.yokai import ceiling
from games.yokai.ceiling import fewest_moves, score
from games.yokai.config import config
from games.yokai.grid import grid
from games.yokai.rules import rules_of

CONFIG = config(9, 2)
GRID = grid(CONFIG.grid)
NONE, ONE, TWO = "RRR GGG BBB", "RRG BBG RBG", "RRR GGB BBG"
"""Rows of the start; in the second one red card has to go, in the third a green and a blue one change places."""


def words(drawn: str) -> tuple[int, ...]:
    cells = dict.fromkeys("RGB", 0)
    for colour, (row, column) in zip(drawn.replace(" ", ""), CONFIG.start_positions(), strict=True):
        cells[colour] |= GRID.bits[row][column]
    return tuple(cells.values())


@pytest.mark.parametrize(("drawn", "moves"), [(NONE, 0), (ONE, 1), (TWO, 2)])
def test_positions_solved_by_hand_take_as_many_moves(drawn: str, moves: int) -> None:
    assert fewest_moves(GRID, words(drawn)) == moves


def test_turns_cost_a_revealed_hint_and_a_placed_one_by_turns() -> None:
    assert [score(CONFIG, moves) for moves in range(6)] == [20, 17, 16, 13, 12, 9]


def test_a_move_is_one_that_the_rules_allow() -> None:
    rules = rules_of(CONFIG)
    for drawn in (NONE, TWO):
        state = rules.initial_state() | {"phase": "play"}
        colours = drawn.replace(" ", "")
        expected = set()
        for move in rules.legal_moves(state):
            card, cell = move.removeprefix("move ").split(" to ")
            moved = [list(place) for place in state["positions"]]
            moved[int(card)] = [int(number) for number in cell.split(",")]
            after = dict.fromkeys("RGB", 0)
            for colour, (row, column) in zip(colours, moved, strict=True):
                after[colour] |= GRID.bits[row][column]
            expected.add(tuple(after.values()))
        assert set(ceiling._after(GRID, words(drawn), range(3))) == expected
