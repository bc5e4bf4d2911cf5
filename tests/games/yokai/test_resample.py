import random
from collections import Counter

import pytest

from games.api import GameError
from games.yokai.game import make


def decision_points(game, actions, view="default"):
    """Every player's own decision points in a game given by all its actions, and the last state."""
    state = game.initial_state()
    points = [[] for _ in range(game.config.players)]
    for action in actions:
        player = game.current_player(state)
        if player >= 0:
            points[player].append((game.observation(state, player, view), action))
        state = game.apply_action(state, action)
    return points, state


def random_game(game, rng, length=10**6):
    state, actions = game.initial_state(), []
    while game.current_player(state) != -4 and len(state["log"]) < length:
        legal = [action for action in game.legal_actions(state) if action != "end"]
        actions.append(rng.choice(legal))
        state = game.apply_action(state, actions[-1])
    return actions


def own_history(game, actions, player, view="default"):
    """Decision points up to the last state at which `player` is to act, the last action None."""
    points, _ = decision_points(game, actions, view)
    own = points[player]
    return [*own[:-1], (own[-1][0], None)]


@pytest.mark.parametrize("view", ["default", "memory"])
def test_replayed_resamples_recreate_every_own_decision_point(game, view):
    rng = random.Random(61)
    for length in (3, 17, 4 * game.config.players + 6, 8 * game.config.hints):
        actions = random_game(game, rng, length)
        for player in range(game.config.players):
            if len(decision_points(game, actions)[0][player]) == 0:
                continue
            history = own_history(game, actions, player, view)
            for _ in range(3):
                sampled = game.resample_history(history, player, rng)
                points, state = decision_points(game, sampled, view)
                points[player].append((game.observation(state, player, view), None))
                assert points[player] == history


def test_resamples_of_a_small_case_follow_the_exact_posterior():
    """One card and one hint are left to guess: all but 3 cards known; enumerated by hand below."""
    game = make(9, 2)
    deal = [f"deal {c}" for c in ["red", "green", "blue", "red", "green", "blue", "red", "green", "blue"]]
    hints = ["hint red", "hint red-green", "hint red-blue", "hint green-blue"]
    turns = [
        *["observe 0", "observe 1", "move 8 to 2,3", "reveal 0", "observe 8", "observe 7", "move 8 to 5,5", "reveal 1"],
        *["observe 2", "observe 3", "move 8 to 2,3", "place 0 at 3,3", "observe 8", "observe 7", "move 8 to 5,5"],
        *["place 1 at 3,4", "observe 4", "observe 5", "move 8 to 2,3", "reveal 2", "observe 8", "observe 7"],
        *["move 8 to 5,5", "place 2 at 3,5", "observe 6"],
    ]
    history = own_history(game, [*deal, *hints, *turns, "observe 4"], 0)
    rng = random.Random(62)
    drawn = Counter(tuple(game.resample_history(history, 0, rng)[7:9]) for _ in range(4000))
    assert set(drawn) == {("deal green", "deal blue"), ("deal blue", "deal green")}
    assert abs(drawn["deal green", "deal blue"] - 2000) < 5 * 32
    lasts = Counter(game.resample_history(history, 0, rng)[12] for _ in range(50))
    assert lasts == {"hint green-blue": 50}


def test_resamples_at_the_start_are_uniform_over_all_deals():
    game = make(9, 2)
    state = game.initial_state()
    for action in [*["deal red", "deal green", "deal blue"] * 3, "hint red", "hint red-green"]:
        state = game.apply_action(state, action)
    for action in ["hint red-blue", "hint green-blue"]:
        state = game.apply_action(state, action)
    history = [(game.observations(state)[0], None)]
    rng = random.Random(63)
    samples = [tuple(game.resample_history(history, 0, rng)) for _ in range(16800)]
    colours = Counter(sample[:9] for sample in samples)
    hints = Counter(sample[9:] for sample in samples)
    assert len(colours) == 1680
    assert chi_square(colours, 1680) < 1680 + 5 * (2 * 1680) ** 0.5
    assert len(hints) == 3 * 6 * 4
    assert chi_square(hints, 72) < 72 + 5 * (2 * 72) ** 0.5


def chi_square(counts, cells):
    expected = counts.total() / cells
    return sum((count - expected) ** 2 / expected for count in counts.values()) + (cells - len(counts)) * expected


def test_given_what_was_seen_the_posterior_equals_exact_enumeration():
    """Cards 4 and 2 seen green and blue, hint 1 seen red-green: every deal that fits is drawn equally often."""
    game = make(9, 2)
    actions = [*["deal red", "deal green", "deal blue"] * 3, "hint red", "hint red-green", "hint red-blue"]
    actions += ["hint green-blue", "observe 4", "observe 2", "move 2 to 2,3", "reveal 1", "observe 4", "observe 3"]
    actions += ["move 2 to 3,5", "reveal 3", "observe 4"]
    history = own_history(game, actions, 0)
    rng = random.Random(64)
    samples = [tuple(game.resample_history(history, 0, rng)) for _ in range(6300)]
    colours = Counter(sample[:9] for sample in samples)
    fitting = 7 * 6 * 5 * 4 * 3 * 2 // (6 * 2 * 2)  # 3 red, 2 green and 2 blue cards are left
    assert fitting == 210
    assert len(colours) == fitting
    assert chi_square(colours, fitting) < fitting + 5 * (2 * fitting) ** 0.5
    hints = Counter((sample[9], sample[11]) for sample in samples)
    assert {(sample[10], sample[12]) for sample in samples} == {("hint red-green", "hint green-blue")}
    singles = ["hint red", "hint green", "hint blue"]
    assert set(hints) == {(s, "hint red-blue") for s in singles} | {("hint red-blue", s) for s in singles}
    assert chi_square(hints, 6) < 6 + 5 * 12**0.5


def test_the_same_seed_gives_the_same_history():
    game = make(16, 2)
    history = own_history(game, random_game(game, random.Random(3), 20), 0)
    first = game.resample_history(history, 0, random.Random(9))
    assert first == game.resample_history(history, 0, random.Random(9))


def test_histories_with_gaps_or_of_another_player_are_refused():
    game = make(9, 2)
    history = own_history(game, random_game(game, random.Random(4), 30), 0)
    with pytest.raises(GameError, match="every own decision point"):
        game.resample_history(history[-1:], 0, random.Random(0))
    with pytest.raises(GameError, match="decision points of player 1"):
        game.resample_history(history, 1, random.Random(0))
    with pytest.raises(GameError, match="empty"):
        game.resample_history([], 0, random.Random(0))
