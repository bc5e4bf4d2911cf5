import random

import pytest

from games.api import GameError
from games.yokai.game import make
from games.yokai.policy import POLICIES, ScriptedPolicy, frozen_shape


def played(game, policy, seed):
    rng = random.Random(seed)
    state = game.initial_state()
    while game.current_player(state) != -4:
        if state["phase"] == "deal":
            outcomes = game.chance_outcomes(state)
            action = rng.choices([a for a, _ in outcomes], [p for _, p in outcomes])[0]
        else:
            action = policy(game, state, [], state["player"], rng)
        state = game.apply_action(state, action)
    return state


@pytest.mark.parametrize(
    ("name", "won", "early", "least"),
    [
        ("win early", True, True, 8),
        ("win late", True, False, 9),
        ("lose early", False, True, 7),
        ("lose late", False, False, 9),
        ("freeze", False, False, 9),
    ],
)
@pytest.mark.parametrize("cards", [9, 8])
def test_scripted_players_win_or_lose_early_or_late_as_told(cards, name, won, early, least):
    game = make(cards, 2)
    ends = [game.outcome(played(game, POLICIES[name], seed)) for seed in range(10)]
    assert sum((end["won"], end["ended_early"]) == (won, early) for end in ends) >= least


@pytest.mark.parametrize("players", [2, 3, 4])
def test_scripted_players_win_with_sixteen_cards_too(players):
    game = make(16, players)
    assert game.outcome(played(game, POLICIES["win early"], 1))["won"]


def test_freezing_reaches_forced_no_ops_in_every_configuration_of_the_paper(game):
    frozen = ["no-op" in played(game, POLICIES["freeze"], seed)["log"] for seed in range(3)]
    assert frozen == [not game.config.is_ring] * 3


def test_frozen_shapes_hold_every_card_once(game):
    shape = frozen_shape(game.rules)
    assert len(set(shape.cells)) == game.config.cards - game.config.start
    assert len(shape.ends) == (2 if game.config.cards == 9 else 3)


def test_winning_games_end_with_different_scores():
    game = make(9, 2)
    assert len({game.outcome(played(game, POLICIES["win early"], seed))["score"] for seed in range(12)}) >= 3


def test_honest_players_place_true_hints_where_they_can():
    game = make(9, 2)
    honest = [game.outcome(played(game, ScriptedPolicy(ending="never", honesty=1.0), s))["wrong"] for s in range(6)]
    liars = [game.outcome(played(game, ScriptedPolicy(ending="never", honesty=0.0), s))["wrong"] for s in range(6)]
    assert sum(honest) < sum(liars)


def test_mistakes_make_random_moves():
    game = make(9, 2)
    clumsy = ScriptedPolicy(plan="group", ending="never", mistakes=1.0)
    assert not all(game.outcome(played(game, clumsy, seed))["won"] for seed in range(6))


def test_a_policy_is_not_asked_where_chance_acts():
    game = make(9, 2)
    with pytest.raises(GameError, match="phase 'deal'"):
        POLICIES["win early"](game, game.initial_state(), [], 0, random.Random(0))


def test_the_same_seed_gives_the_same_game():
    game = make(9, 3)
    assert played(game, POLICIES["win early"], 5) == played(game, POLICIES["win early"], 5)
