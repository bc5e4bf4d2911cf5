import random

import pytest

from games import registry
from games.yokai.partners import PARTNERS


def play(game, partners, seed):
    """Returns the finished game's state, every answer checked to be legal."""
    rng, state = random.Random(seed), game.initial_state()
    histories = [[] for _ in partners]
    while (player := game.current_player(state)) != -4:
        if player == -1:
            outcomes = game.chance_outcomes(state)
            action = rng.choices([name for name, _ in outcomes], [weight for _, weight in outcomes])[0]
        else:
            seen, legal = game.observations(state)[player], game.legal_actions(state)
            action = PARTNERS[partners[player]]([*histories[player], (seen, None)], legal, rng)
            assert action in legal
            histories[player].append((seen, action))
        state = game.apply_action(state, action)
    return state


def test_the_heuristic_groups_and_scores():
    game = registry.make("yokai-9c-2p")
    outcomes = [game.outcome(play(game, ["heuristic", "heuristic"], seed)) for seed in range(12)]
    assert sum(outcome["won"] for outcome in outcomes) >= 9
    assert sum(outcome["correct"] for outcome in outcomes) > 4 * sum(outcome["wrong"] for outcome in outcomes)


@pytest.mark.parametrize("game_id", ["yokai-9c-4p", "yokai-16c-3p", "yokai-8c-2p"])
def test_every_partner_plays_every_size(game_id):
    game = registry.make(game_id)
    names = [*PARTNERS, "heuristic"]
    play(game, names[: game.info.num_players], 1)
    play(game, names[-game.info.num_players :], 2)


def test_one_that_ends_at_once_acts_once():
    game = registry.make("yokai-9c-2p")
    assert play(game, ["end-at-once", "heuristic"], 3)["log"] == ["end"]


def test_one_that_never_ends_plays_the_full_length():
    game = registry.make("yokai-9c-2p")
    assert len(play(game, ["never-end", "never-end"], 4)["log"]) == game.info.max_length


def test_a_liar_places_wrong_hints_where_it_knows_the_card():
    game = registry.make("yokai-9c-2p")
    outcomes = [game.outcome(play(game, ["hint-liar", "hint-liar"], seed)) for seed in range(8)]
    assert sum(outcome["wrong"] for outcome in outcomes) > sum(outcome["correct"] for outcome in outcomes)
    assert sum(outcome["wrong"] for outcome in outcomes) >= 8


def test_the_same_seed_plays_the_same_game():
    game = registry.make("yokai-9c-2p")
    first, second = (play(game, ["heuristic", "hint-liar"], 5) for _ in range(2))
    assert first == second
