"""Quadranto: every rule by exact values, what each player sees, and inference against plain enumeration."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import CHANCE, TERMINAL, Action, GameError, IllegalActionError, Observation
from games.contract import game
from games.quadranto.game import Quadranto
from games.quadranto.matrix import QUADRANTS
from games.quadranto.resample import Sight, count_paths

GAME = Quadranto()
NOBODY = [0.0, 0.0]


def after(*actions: Action) -> dict[str, Any]:
    state = GAME.initial_state()
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def placed(first: str = "0,0", second: str = "2,2") -> tuple[Action, Action]:
    return (f"place player 0 at {first}", f"place player 1 at {second}")


def position(first: list[int], second: list[int], player: int = 0, moves: int = 0) -> dict[str, Any]:
    return {"positions": [first, second], "moves": moves, "current_player": player}


def own_history(actions: Sequence[Action], player: int) -> list[tuple[Observation, Action | None]]:
    """Returns what `player` saw and did, if `player` is to move after `actions`."""
    state, history = GAME.initial_state(), []
    for action in actions:
        if state["current_player"] == player:
            history.append((GAME.observations(state)[player], action))
        state = GAME.apply_action(state, action)
    assert state["current_player"] == player
    return [*history, (GAME.observations(state)[player], None)]


def all_games(length: int, past: tuple[Action, ...] = ()) -> Iterator[tuple[Action, ...]]:
    """Yields every history of two placings and `length` moves that has not ended."""
    state = after(*past)
    if len(past) == 2 + length:
        if state["current_player"] != TERMINAL:
            yield past
        return
    for action in GAME.legal_actions(state):
        yield from all_games(length, (*past, action))


def chi_square(counts: Counter[Any], cells: int) -> float:
    expected = counts.total() / cells
    return sum((count - expected) ** 2 / expected for count in counts.values()) + (cells - len(counts)) * expected


def test_game_fulfils_the_contract_and_leaks_nothing() -> None:
    game.assert_game(registry.make("quadranto"), games=30)


def test_info_is_that_of_a_game_with_hidden_information() -> None:
    info = GAME.info
    assert (info.utility, info.num_players, info.max_length) == ("win_loss_draw", 2, 20)
    assert (info.perfect_information, info.has_chance, info.simultaneous) == (False, True, False)


def test_chance_places_player_0_top_left_and_player_1_bottom_right() -> None:
    cells = ["0,0", "0,1", "1,0", "1,1"]
    assert GAME.chance_outcomes(GAME.initial_state()) == [(f"place player 0 at {cell}", 0.25) for cell in cells]
    state = after("place player 0 at 1,0")
    assert state == {"positions": [[1, 0], None], "moves": 0, "current_player": CHANCE}
    cells = ["2,2", "2,3", "3,2", "3,3"]
    assert GAME.chance_outcomes(state) == [(f"place player 1 at {cell}", 0.25) for cell in cells]
    assert after("place player 0 at 1,0", "place player 1 at 3,2") == position([1, 0], [3, 2])


@pytest.mark.parametrize(
    ("action", "cell"),
    [("Left", [1, 0]), ("Right", [1, 2]), ("Up", [0, 1]), ("Down", [2, 1]), ("Stay", [1, 1])],
)
def test_step_leads_one_cell_on(action: str, cell: list[int]) -> None:
    assert GAME.apply_action(position([1, 1], [3, 3]), action) == position(cell, [3, 3], player=1, moves=1)
    assert GAME.apply_action(position([3, 3], [1, 1], 1, 5), action) == position([3, 3], cell, player=0, moves=6)


@pytest.mark.parametrize(
    ("cell", "legal"),
    [
        ([0, 0], ["Right", "Down", "Stay"]),
        ([0, 3], ["Left", "Down", "Stay"]),
        ([3, 0], ["Right", "Up", "Stay"]),
        ([3, 3], ["Left", "Up", "Stay"]),
        ([0, 1], ["Left", "Right", "Down", "Stay"]),
        ([2, 0], ["Right", "Up", "Down", "Stay"]),
        ([1, 2], ["Left", "Right", "Up", "Down", "Stay"]),
    ],
)
def test_step_off_the_matrix_is_illegal(cell: list[int], legal: list[str]) -> None:
    state = position(cell, [1, 1])
    assert GAME.legal_actions(state) == legal
    for action in {"Left", "Right", "Up", "Down", "Stay"} - set(legal):
        with pytest.raises(IllegalActionError, match=f"quadranto: '{action}' is not legal here"):
            GAME.apply_action(state, action)


def test_step_onto_the_other_player_wins() -> None:
    caught = GAME.apply_action(position([1, 1], [1, 2]), "Right")
    assert caught == position([1, 2], [1, 2], player=TERMINAL, moves=1)
    assert GAME.rewards(caught) == [1.0, -1.0]
    caught = GAME.apply_action(position([1, 1], [1, 2], player=1, moves=1), "Left")
    assert caught == position([1, 1], [1, 1], player=TERMINAL, moves=2)
    assert GAME.rewards(caught) == [-1.0, 1.0]
    assert GAME.legal_actions(caught) == []
    with pytest.raises(IllegalActionError):
        GAME.apply_action(caught, "Stay")


def test_twentieth_move_ends_the_game_in_a_draw_and_staying_counts() -> None:
    state = after(*placed(), *["Stay"] * 19)
    assert (state["current_player"], state["moves"]) == (1, 19)
    state = GAME.apply_action(state, "Stay")
    assert (state["current_player"], state["moves"]) == (TERMINAL, 20)
    assert GAME.rewards(state) == NOBODY


def test_catch_by_the_twentieth_move_wins() -> None:
    assert GAME.rewards(GAME.apply_action(position([1, 1], [1, 2], 1, 19), "Left")) == [-1.0, 1.0]


def test_player_sees_its_cell_and_the_others_quadrant_alone() -> None:
    state = after(*placed("1,0", "2,3"), "Right", "Up")
    first, second = GAME.observations(state)
    common = {"moves": 2, "current_player": 0}
    assert first == {"player": 0, "position": [1, 1], "opponent_quadrant": "top right", **common}
    assert second == {"player": 1, "position": [1, 3], "opponent_quadrant": "top left", **common}


def test_players_see_a_placing_at_once() -> None:
    first, second = GAME.observations(after("place player 0 at 1,0"))
    assert (first["position"], first["opponent_quadrant"]) == ([1, 0], None)
    assert (second["position"], second["opponent_quadrant"]) == (None, "top left")


def test_rules_text_lists_the_quadrants() -> None:
    rules = " ".join(registry.rules("quadranto").split())
    listed = re.findall(r"`(\w+ \w+)` \(rows (\d) and (\d), columns (\d) and (\d)\)", rules)
    named = {name: (a, b, c, d) for name, a, b, c, d in listed}
    assert set(named) == set(QUADRANTS)
    for cell, quadrant in enumerate(QUADRANTS):
        rows, columns = named[quadrant][:2], named[quadrant][2:]
        assert str(cell // 4) in rows
        assert str(cell % 4) in columns


def test_drawing_for_a_player_hides_the_others_cell() -> None:
    state = position([1, 0], [2, 3])
    assert GAME.render(state).splitlines() == [
        *[". . | . .", "0 . | . .", "----+----", ". . | . 1", ". . | . .", "moves: 0 of 20"],
    ]
    assert GAME.render(state, 0).splitlines() == [
        *[". . | . .", "0 . | . .", "----+----", ". . | ? ?", ". . | ? ?", "moves: 0 of 20"],
    ]
    assert GAME.render(position([2, 3], [2, 3], TERMINAL, 3)).splitlines()[3] == ". . | . *"


@pytest.mark.parametrize(
    "actions",
    [
        [*placed("1,1", "2,2")],
        [*placed("1,1", "2,2"), "Right"],
        [*placed("1,1", "2,2"), "Stay", "Left"],
        [*placed("1,0", "2,2"), "Right", "Up", "Up"],
        [*placed("1,0", "3,3"), "Right", "Stay", "Right", "Up"],
    ],
)
def test_resampled_histories_are_uniform_over_all_that_fit(actions: list[Action]) -> None:
    player = len(actions) % 2
    history = own_history(actions, player)
    fitting = []
    for other in all_games(len(actions) - 2):
        seen = own_history(other, player)
        if seen == history:
            fitting.append(other)
    rng = random.Random(7)
    drawn = Counter(tuple(GAME.resample_history(history, player, rng)) for _ in range(40 * len(fitting)))
    assert set(drawn) == set(fitting)
    assert chi_square(drawn, len(fitting)) < len(fitting) + 5 * (2 * len(fitting)) ** 0.5


def test_counts_of_paths_are_those_of_plain_enumeration() -> None:
    assert count_paths((Sight(0, "bottom right"),), 0)[-1] == {10: 1, 11: 1, 14: 1, 15: 1}
    counts = count_paths((Sight(15, "top left"),), 1)[-1]
    assert counts == {0: 3, 1: 3, 4: 3, 5: 3}  # staying, and a step from either neighbour in the quadrant
    counts = count_paths((Sight(5, "bottom right"), Sight(9, "bottom left")), 0)
    assert counts[-1] == {13: 1}  # 9 is the player's own cell, so only 14 to 13 is left


def test_opponent_is_never_where_the_player_went() -> None:
    history = own_history([*placed("1,1", "3,3"), "Down", "Up", "Right", "Stay"], 0)
    rng = random.Random(1)
    for _ in range(200):
        before = after(*GAME.resample_history(history, 0, rng)[:4])
        assert before["positions"][1] != [2, 2]


def test_wrong_histories_are_refused() -> None:
    history = own_history([*placed(), "Stay", "Stay"], 0)
    rng = random.Random(0)
    with pytest.raises(GameError, match="at least one decision point, all of player 1"):
        GAME.resample_history(history, 1, rng)
    with pytest.raises(GameError, match="at least one decision point"):
        GAME.resample_history([], 0, rng)
    history[-1][0]["opponent_quadrant"] = "top left"
    with pytest.raises(GameError, match="no game fits what player 0 saw"):
        GAME.resample_history(history, 0, rng)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_every_game_stays_on_the_matrix_and_ends(seed: int) -> None:
    rng = random.Random(seed)
    state = GAME.initial_state()
    while state["current_player"] != TERMINAL:
        player, before = state["current_player"], state
        state = GAME.apply_action(state, rng.choice(GAME.legal_actions(state)))
        assert state["moves"] == before["moves"] + (player >= 0)
        if player >= 0:
            (row, column), (old_row, old_column) = state["positions"][player], before["positions"][player]
            assert abs(row - old_row) + abs(column - old_column) <= 1
            assert state["positions"][1 - player] == before["positions"][1 - player]
            assert 0 <= row < 4
            assert 0 <= column < 4
    caught = state["positions"][0] == state["positions"][1]
    assert caught or state["moves"] == 20
    assert sum(GAME.rewards(state)) == 0.0
    assert (GAME.rewards(state) != NOBODY) == caught


def test_playout_draws_every_legal_action_equally_often() -> None:
    rng, games = random.Random(3), 5000
    for state, paid, share in (
        (position([1, 1], [1, 2]), [1.0, -1.0], 1 / 5),
        (position([0, 0], [0, 1], player=1, moves=7), [-1.0, 1.0], 1 / 4),
        (position([3, 3], [3, 2]), [1.0, -1.0], 1 / 3),
    ):
        won = sum(GAME.playout(state, rng, 1) == paid for _ in range(games))
        assert abs(won - games * share) < 5 * (games * share * (1 - share)) ** 0.5


def test_playout_from_the_start_places_the_players_first() -> None:
    rng, games = random.Random(3), 2000
    assert {tuple(GAME.playout(GAME.initial_state(), rng, 3)) for _ in range(games)} == {(0.0, 0.0)}
    counts = Counter(GAME.playout(GAME.initial_state(), rng, 10_000)[0] for _ in range(games))
    slow: Counter[float] = Counter()
    for _ in range(games):
        state = GAME.initial_state()
        while state["current_player"] != TERMINAL:
            state = GAME.apply_action(state, rng.choice(GAME.legal_actions(state)))
        slow[GAME.rewards(state)[0]] += 1
    for result in (1.0, 0.0, -1.0):
        share = (counts[result] + slow[result]) / (2 * games)
        assert abs(counts[result] - slow[result]) < 5 * (2 * games * share * (1 - share)) ** 0.5
