import json
import random
from collections import Counter

import pytest

from games.yokai.playout import _draw_move


def pure_playout(game, state, rng):
    """The same through the pure functions."""
    total = 0.0
    while game.current_player(state) != -4:
        outcomes = game.chance_outcomes(state) or [(action, 1.0) for action in game.legal_actions(state)]
        state = game.apply_action(state, rng.choices([a for a, _ in outcomes], [p for _, p in outcomes])[0])
        total += game.rewards(state)[0]
    return total


def test_fast_playouts_pay_what_pure_random_play_pays(small, deal, play):
    state = play(small, deal(small, "rrrggbgbb", "r rg gb rb"), "observe 0", "observe 1", "move 0 to 3,6")
    rng = random.Random(71)
    n = 1500
    fast = [small.playout(state, rng, 1000)[0] for _ in range(n)]
    pure = [pure_playout(small, state, rng) for _ in range(n)]
    mean = [sum(values) / n for values in (fast, pure)]
    spread = (sum((v - mean[0]) ** 2 for v in fast) / n * 2 / n) ** 0.5
    assert abs(mean[0] - mean[1]) < 4 * spread
    assert set(fast) | set(pure) <= set(range(-7, 21))


def test_drawn_moves_are_uniform_over_the_legal_ones(small, deal, play):
    state = deal(small)
    bits = small.rules.grid.bits
    cells = [bits[row][column] for row, column in state["positions"]]
    rng = random.Random(72)
    drawn = Counter(_draw_move(small.rules.grid, list(range(9)), cells, sum(cells), rng) for _ in range(9600))
    assert len(drawn) == 96
    assert sum((count - 100) ** 2 / 100 for count in drawn.values()) < 96 + 5 * (2 * 96) ** 0.5


def test_where_nothing_can_move_no_move_is_drawn(small):
    bits = small.rules.grid.bits
    cells = [bits[4][column] for column in range(9)]
    assert _draw_move(small.rules.grid, list(range(1, 8)), cells, sum(cells), random.Random(0)) == (-1, 0)


def test_playouts_start_anywhere_and_leave_the_state_alone(game, random_states):
    rng = random.Random(73)
    for state in [game.initial_state(), game.apply_action(game.initial_state(), "deal green")]:
        assert len(game.playout(state, rng, 1000)) == game.config.players
    for state in random_states(game, 1, seed=74):
        kept = json.dumps(state)
        values = game.playout(state, rng, 1000)
        assert json.dumps(state) == kept
        assert values == [values[0]] * game.config.players
        assert game.info.min_utility <= values[0] <= game.info.max_utility


def test_playout_of_a_finished_game_pays_nothing_more(small, deal, play):
    assert small.playout(play(small, deal(small, "rrrgggbbb"), "end"), random.Random(0), 100) == [0.0, 0.0]


@pytest.mark.parametrize(("left", "fits"), [(3, False), (4, True)])
def test_a_playout_that_is_cut_pays_nothing(small, random_states, left, fits):
    last_turn = next(s for s in random_states(small, 1, seed=75) if (s["turn"], s["sub_step"]) == (7, 1))
    paid = {small.playout(last_turn, random.Random(seed), left)[0] for seed in range(30)}
    losses_at_full_length = {value for value in paid if value < 0}
    assert losses_at_full_length
    assert (0.0 in paid) != fits


def test_the_same_seed_gives_the_same_playout(game):
    state = game.initial_state()
    runs = [[game.playout(state, random.Random(seed), 1000)[0] for seed in range(20)] for _ in range(2)]
    assert runs[0] == runs[1]
