"""Generalized tic-tac-toe: what OpenSpiel plays and what the rules text says."""

import random
import re

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import TERMINAL, GameError, State, state_to_json
from games.contract import game
from games.mnk.game import SIZE, WIN_LENGTH

GAME = registry.make("mnk")
RULES = registry.rules("mnk")
NATIVE = pyspiel.load_game("mnk(m=6,n=6,k=4)")
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


def after(*actions: str) -> State:
    state = GAME.initial_state()
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def has_line(board: list[list[str]], mark: str) -> bool:
    """Returns whether four equal marks stand in a straight line, as the text says."""
    cells = {(row, column) for row in range(6) for column in range(6) if board[row][column] == mark}
    return any(
        all((row + i * down, column + i * right) in cells for i in range(4))
        for row, column in cells
        for down, right in STEPS
    )


def test_game_fulfils_the_contract() -> None:
    game.assert_game(GAME, games=4)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_game_goes_as_open_spiel_and_the_text_say(seed: int) -> None:
    rng, ours, native, turn = random.Random(seed), GAME.initial_state(), NATIVE.new_initial_state(), 0
    board = [["."] * 6 for _ in range(6)]
    while True:
        lines = [mark for mark in "xo" if has_line(board, mark)]
        full = all("." not in row for row in board)
        over = bool(lines) or full
        assert state_to_json(GAME, ours) == {
            "board": board,
            "current_player": "Terminal" if over else "xo"[turn % 2],
            "winner": lines[0] if lines else "draw" if full else "",
        }
        assert GAME.observations(ours) == [state_to_json(GAME, ours)] * 2
        assert GAME.rewards(ours) == native.rewards()
        assert GAME.rewards(ours) == ([0.0, 0.0] if not lines else [1.0, -1.0] if lines == ["x"] else [-1.0, 1.0])
        player = TERMINAL if over else turn % 2
        assert GAME.current_player(ours) == native.current_player() == player
        empty = [(row, column) for row in range(6) for column in range(6) if board[row][column] == "." and not over]
        assert GAME.legal_actions(ours) == [f"{'xo'[turn % 2]}({row},{column})" for row, column in empty]
        assert native.legal_actions() == [6 * row + column for row, column in empty]
        if over:
            break
        row, column = rng.choice(empty)
        board[row][column] = "xo"[turn % 2]
        ours, native = GAME.apply_action(ours, f"{'xo'[turn % 2]}({row},{column})"), native.child(6 * row + column)
        turn += 1


@pytest.mark.parametrize(
    "line",
    [
        [(0, 2), (0, 3), (0, 4), (0, 5)],
        [(2, 0), (3, 0), (4, 0), (5, 0)],
        [(2, 2), (3, 3), (4, 4), (5, 5)],
        [(0, 5), (1, 4), (2, 3), (3, 2)],
    ],
)
def test_four_in_a_row_win_in_every_direction_and_up_to_the_edge(line: list[tuple[int, int]]) -> None:
    others = [(row, column) for row in (1, 5) for column in (0, 1, 3, 5) if (row, column) not in line]
    actions = []
    for own, other in zip(line, (others[0], others[2], others[5]), strict=False):
        actions += [f"x({own[0]},{own[1]})", f"o({other[0]},{other[1]})"]
    state = after(*actions)
    assert GAME.current_player(state) == 0
    end = GAME.apply_action(state, f"x({line[3][0]},{line[3][1]})")
    assert state_to_json(GAME, end)["winner"] == "x"
    assert GAME.rewards(end) == [1.0, -1.0]


def test_a_line_of_five_wins_too() -> None:
    end = after("x(0,0)", "o(5,0)", "x(0,1)", "o(5,2)", "x(0,3)", "o(4,4)", "x(0,4)", "o(3,1)", "x(0,2)")
    assert GAME.rewards(end) == [1.0, -1.0]


def test_three_and_a_line_round_the_edge_do_not_win() -> None:
    state = after("x(0,3)", "o(2,0)", "x(0,4)", "o(2,2)", "x(0,5)", "o(4,4)", "x(1,0)")
    assert state_to_json(GAME, state)["winner"] == ""


def test_numbers_of_the_text_are_those_of_the_code_and_of_open_spiel() -> None:
    rows, columns = (int(found) for found in re.findall(r"board of (\d) rows by (\d) columns", RULES)[0])
    length = int(re.findall(r"first has (\d) marks in a straight line", RULES)[0])
    cells = int(re.findall(r"all (\d+) cells are marked", RULES)[0])
    assert (rows, columns, length) == (SIZE, SIZE, WIN_LENGTH) == (6, 6, 4)
    assert NATIVE.get_parameters() == {"m": columns, "n": rows, "k": length}
    assert cells == rows * columns == GAME.info.max_length


def test_text_names_every_field_and_the_ends_of_the_action_list() -> None:
    fields = set(state_to_json(GAME, GAME.initial_state()))
    assert set(re.findall(r"^\* `(\w+)`:", RULES, re.MULTILINE)) == fields
    assert {"x(0,1)", "o(5,5)"} <= set(re.findall(r"`([^`]*)`", RULES)) & set(GAME.all_actions())


def test_board_is_drawn_with_row_and_column_numbers() -> None:
    lines = GAME.render(after("x(0,1)", "o(5,5)")).splitlines()
    assert lines[:2] == ["  0 1 2 3 4 5", "0 . x . . . ."]
    assert lines[-1] == "5 . . . . . o"


def test_hidden_state_cannot_be_swapped_where_nothing_is_hidden() -> None:
    with pytest.raises(GameError, match="mnk offers no resample_history"):
        game.check_leaks(GAME)
