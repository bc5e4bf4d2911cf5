"""The generalized chess army5x5a: every rule by exact values, and what holds in every game."""

import random
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import TERMINAL, IllegalActionError
from games.army5x5a.game import Army5x5a
from games.army5x5a.moves import GENERALS, PIECES, STEPS, TARGETS
from games.contract import game

GAME = Army5x5a()
NOBODY = [0.0, 0.0]


def position(*board: str, player: int = 0, moves: int = 10) -> dict[str, Any]:
    return {"board": list(board), "current_player": player, "moves": moves}


def after(state: dict[str, Any], *actions: str) -> dict[str, Any]:
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def turned(state: dict[str, Any]) -> dict[str, Any]:
    """Returns the state as the other player sees it: turned by half a turn, upper and lower case swapped."""
    board = [row[::-1].swapcase() for row in state["board"][::-1]]
    return {"board": board, "current_player": 1 - state["current_player"], "moves": state["moves"]}


def turned_action(action: str) -> str:
    def turn(square: str) -> str:
        return f"{'EDCBA'['ABCDE'.index(square[0])]}{6 - int(square[1])}"

    return action if action == "PASS" else "_to_".join(turn(square) for square in action.split("_to_"))


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    """States on the way of a random game, the last one included."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    state = GAME.initial_state()
    for _ in range(draw(st.integers(0, 100))):
        legal = GAME.legal_actions(state)
        if not legal:
            break
        state = GAME.apply_action(state, rng.choice(legal))
    return state


def test_game_fulfils_the_contract() -> None:
    game.assert_game(registry.make("army5x5a"), games=10)


def test_info_is_that_of_a_game_of_skill_for_two() -> None:
    info = GAME.info
    assert (info.utility, info.num_players, info.max_length) == ("win_loss_draw", 2, 100)
    assert (info.min_utility, info.max_utility) == (-1.0, 1.0)
    assert (info.perfect_information, info.has_chance, info.simultaneous) == (True, False, False)


def test_first_turn_offers_sixteen_moves_and_pass() -> None:
    assert GAME.legal_actions(GAME.initial_state()) == [
        *["A1_to_B3", "A1_to_C2", "A1_to_D1", "A2_to_B1", "A2_to_B2", "A2_to_B3", "A2_to_C2", "A3_to_B3"],
        *["A4_to_B3", "A4_to_B4", "A4_to_B5", "A4_to_C4", "A5_to_D5", "PASS"],
    ]


@pytest.mark.parametrize(
    ("piece", "targets"),
    [
        ("X", ["B3", "C1", "C2", "C4", "C5", "D3"]),
        ("x", ["B3", "C1", "C2", "C4", "C5", "D3"]),
        ("I", ["B3", "D2", "D3", "D4", "E3"]),
        ("i", ["A3", "B2", "B3", "B4", "D3"]),
        ("V", ["D5", "E4"]),
        ("v", ["A2", "B1"]),
    ],
)
def test_piece_in_the_middle_of_an_empty_board_reaches(piece: str, targets: list[str]) -> None:
    state = position(".....", ".....", f"..{piece}..", ".....", ".....", player=int(piece.islower()))
    assert GAME.legal_actions(state) == [*(f"C3_to_{target}" for target in targets), "PASS"]


@pytest.mark.parametrize(
    ("piece", "square", "targets"),
    [
        ("V", "A1", ["A4", "B3", "C2", "D1"]),
        ("v", "E5", ["B5", "C4", "D3", "E2"]),
        ("V", "E5", []),
        ("v", "A1", []),
        ("I", "E2", ["D2"]),
        ("i", "A2", ["B2"]),
        ("I", "D1", ["C1", "E1", "E2"]),
        ("X", "A1", ["A2", "A3", "B1"]),
        ("x", "E4", ["D4", "E2", "E3", "E5"]),
    ],
)
def test_piece_at_the_edge_reaches(piece: str, square: str, targets: list[str]) -> None:
    row, column = "ABCDE".index(square[0]), int(square[1]) - 1
    board = ["....." for _ in range(5)]
    board[row] = f"{'.' * column}{piece}{'.' * (4 - column)}"
    state = position(*board, player=int(piece.islower()))
    assert GAME.legal_actions(state) == [*(f"{square}_to_{target}" for target in targets), "PASS"]


def test_infantry_on_the_last_row_stays_infantry() -> None:
    state = position("X....", ".....", ".....", "..I..", "x....")
    assert after(state, "D3_to_E3")["board"] == ["X....", ".....", ".....", ".....", "x.I.."]


def test_move_takes_the_piece_along_and_passes_the_turn() -> None:
    assert after(GAME.initial_state(), "A2_to_C2") == {
        "board": ["V.XIV", ".....", ".I...", ".....", "vixiv"],
        "current_player": 1,
        "moves": 1,
    }


def test_pieces_jump_over_whatever_stands_between() -> None:
    state = position("VIX..", ".I...", ".....", ".i...", "..x..")
    assert {"A1_to_A4", "A3_to_A5", "A2_to_C2"} <= set(GAME.legal_actions(state))


def test_move_onto_an_own_piece_is_illegal() -> None:
    state = position("XI...", ".....", ".....", ".....", "..x..")
    assert "A1_to_A2" not in GAME.legal_actions(state)
    with pytest.raises(IllegalActionError, match=r"army5x5a: 'A1_to_A2' is not legal here; legal are \['A1_to_A3'"):
        GAME.apply_action(state, "A1_to_A2")


def test_moving_the_other_players_piece_is_illegal() -> None:
    for action in ("E2_to_C2", "E2_to_D2", "C3_to_C4", "A2_to_A5", "A2_to_F2", "A2", ""):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(GAME.initial_state(), action)


def test_captured_piece_is_removed_and_the_game_goes_on() -> None:
    state = after(position("..X..", ".....", "..V..", "....i", "..x.."), "C3_to_D5")
    assert state == position("..X..", ".....", ".....", "....V", "..x..", player=1, moves=11)
    assert GAME.rewards(state) == NOBODY


def test_capture_of_a_general_wins() -> None:
    state = position("..X..", ".....", ".iV..", ".....", "...x.")
    won = after(state, "C3_to_E4")
    assert won["current_player"] == TERMINAL
    assert won["board"] == ["..X..", ".....", ".i...", ".....", "...V."]
    assert GAME.rewards(won) == [1.0, -1.0]
    lost = after(state, "PASS", "C2_to_B3", "PASS", "B3_to_A3")
    assert lost["current_player"] == TERMINAL
    assert GAME.rewards(lost) == [-1.0, 1.0]
    for over in (won, lost):
        assert GAME.legal_actions(over) == []
        with pytest.raises(IllegalActionError):
            GAME.apply_action(over, "PASS")


def test_general_may_capture_the_general_and_may_walk_into_capture() -> None:
    state = position(".....", ".....", "X.x..", ".....", ".....")
    assert GAME.rewards(after(state, "C1_to_C3")) == [1.0, -1.0]
    assert GAME.rewards(after(state, "C1_to_C2", "C3_to_C2")) == [-1.0, 1.0]


def test_pass_changes_nothing_but_the_turn() -> None:
    start = GAME.initial_state()
    assert after(start, "PASS") == {**start, "current_player": 1, "moves": 1}
    assert GAME.legal_actions(after(start, "PASS"))[-1] == "PASS"


def test_hundredth_action_ends_the_game_in_a_draw() -> None:
    state = GAME.initial_state()
    for _ in range(99):
        state = GAME.apply_action(state, "PASS")
    assert state["current_player"] == 1
    state = GAME.apply_action(state, "PASS")
    assert (state["current_player"], state["moves"]) == (TERMINAL, 100)
    assert GAME.rewards(state) == NOBODY


def test_capture_of_a_general_by_the_hundredth_action_wins() -> None:
    state = position(".....", ".....", "X.x..", ".....", ".....", player=1, moves=99)
    assert GAME.rewards(after(state, "C3_to_C1")) == [-1.0, 1.0]


def test_rules_text_lists_the_steps_of_every_piece() -> None:
    rules = registry.rules("army5x5a")
    rows = re.findall(r"^\| (general|infantry|cavalry) \| (\(.*\)) \|$", rules, re.MULTILINE)
    steps = {
        name: tuple(tuple(map(int, pair)) for pair in re.findall(r"\((-?\d), (-?\d)\)", row)) for name, row in rows
    }
    assert steps == {"general": STEPS["X"], "infantry": STEPS["I"], "cavalry": STEPS["V"]}
    letters = re.findall(r"^\| \w+ \| `(\w)` \| `(\w)` \|$", rules, re.MULTILINE)
    assert ["".join(own) for own in zip(*letters, strict=True)] == list(PIECES)


def test_drawing_shows_the_board_with_its_names() -> None:
    assert GAME.render(GAME.initial_state(), 1).splitlines() == [
        "A  V I X I V",
        "B  . . . . .",
        "C  . . . . .",
        "D  . . . . .",
        "E  v i x i v",
        "   1 2 3 4 5",
    ]


def test_nobody_can_force_a_win_within_seven_actions() -> None:
    def replies(cells: str, player: int) -> list[str]:
        """Returns the boards after each move, `PASS` too."""
        boards = [cells]
        for source, piece in enumerate(cells):
            for target in TARGETS[piece][source] if piece in PIECES[player] else ():
                if cells[target] not in PIECES[player]:
                    board = list(cells)
                    board[source], board[target] = ".", piece
                    boards.append("".join(board))
        return boards

    @cache
    def wins(cells: str, player: int, actions: int) -> bool:
        own, other = GENERALS[player], GENERALS[1 - player]
        boards = replies(cells, player)
        if any(other not in board for board in boards):
            return True
        return actions > 2 and any(
            all(own in answer and wins(answer, player, actions - 2) for answer in replies(board, 1 - player))
            for board in boards
        )

    start = "".join(GAME.initial_state()["board"])
    assert not wins(start, 0, 7)
    assert wins("X...." + "....." * 2 + ".I.I." + "x....", 0, 3)


@given(state=states())
@settings(max_examples=60, deadline=None)
def test_half_turn_with_swapped_sides_changes_nothing(state: dict[str, Any]) -> None:
    if state["current_player"] == TERMINAL:
        return
    legal = GAME.legal_actions(state)
    assert sorted(map(turned_action, legal)) == sorted(GAME.legal_actions(turned(state)))
    for action in legal:
        ours, theirs = GAME.apply_action(state, action), GAME.apply_action(turned(state), turned_action(action))
        assert GAME.rewards(ours) == GAME.rewards(theirs)[::-1]
        assert [row[::-1].swapcase() for row in ours["board"][::-1]] == theirs["board"]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_every_game_keeps_its_pieces_and_ends(seed: int) -> None:
    rng = random.Random(seed)
    state, counts = GAME.initial_state(), {"V": 2, "I": 2, "X": 1, "v": 2, "i": 2, "x": 1}
    while state["current_player"] != TERMINAL:
        player, moves = state["current_player"], state["moves"]
        assert GAME.rewards(state) == NOBODY
        state = GAME.apply_action(state, rng.choice(GAME.legal_actions(state)))
        cells = "".join(state["board"])
        left = {piece: cells.count(piece) for piece in counts}
        assert len(cells) == 25
        assert all(left[piece] == counts[piece] for piece in PIECES[player])
        assert sum(counts.values()) - sum(left.values()) in (0, 1)
        assert state["moves"] == moves + 1
        counts = left
    assert state["moves"] == 100 or counts["X"] + counts["x"] == 1
    assert sum(GAME.rewards(state)) == 0.0


@given(state=states(), seed=st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_playout_pays_what_a_game_can_pay_and_leaves_the_state(state: dict[str, Any], seed: int) -> None:
    before = {**state, "board": list(state["board"])}
    assert GAME.playout(state, random.Random(seed), 10_000) in ([1.0, -1.0], [-1.0, 1.0], NOBODY)
    assert state == before
    assert GAME.playout({**state, "current_player": TERMINAL}, random.Random(seed), 10_000) == NOBODY


def test_playout_draws_every_legal_action_equally_often() -> None:
    state = position("X....", "....V", ".I...", ".I...", "I.x..")
    legal = GAME.legal_actions(state)
    winning = [action for action in legal if GAME.rewards(GAME.apply_action(state, action)) == [1.0, -1.0]]
    assert (len(legal), winning) == (12, ["D2_to_E3"])
    rng, games = random.Random(4), 6000
    won = sum(GAME.playout(state, rng, 1) == [1.0, -1.0] for _ in range(games))
    assert abs(won - games / 12) < 5 * (games / 12 * 11 / 12) ** 0.5


def test_playout_ends_like_play_through_the_pure_functions() -> None:
    rng, start, games = random.Random(5), GAME.initial_state(), 1500
    won = {1.0: 0, 0.0: 0, -1.0: 0}
    for _ in range(games):
        state = start
        while state["current_player"] != TERMINAL and state["moves"] < 15:
            state = GAME.apply_action(state, rng.choice(GAME.legal_actions(state)))
        won[GAME.rewards(state)[0]] += 1
    fast = {1.0: 0, 0.0: 0, -1.0: 0}
    for _ in range(games):
        fast[GAME.playout(start, rng, 15)[0]] += 1
    for result in won:
        share = (won[result] + fast[result]) / (2 * games)
        assert abs(won[result] - fast[result]) < 5 * (2 * games * share * (1 - share)) ** 0.5
