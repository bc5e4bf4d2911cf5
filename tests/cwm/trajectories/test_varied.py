"""Varied games: rare kinds of action are as likely as common ones, and every game depends on its number alone."""

import random
from collections import Counter

from cwm.trajectories.recorded import collect, game_seed, play
from cwm.trajectories.varied import action_kind, by_kind, varied_game
from games import registry


def test_every_kind_of_action_is_as_likely_as_any_other() -> None:
    game = registry.make("bargaining")
    state = game.initial_state()
    rng = random.Random(0)
    while game.current_player(state) < 0:
        state = game.apply_action(state, game.legal_actions(state)[0])
    state = game.apply_action(state, game.legal_actions(state)[0])
    kinds = Counter(map(action_kind, game.legal_actions(state)))
    drawn = Counter(action_kind(by_kind(game, state, [], 0, rng)) for _ in range(900))
    assert sorted(kinds.values()) == [1, 24]
    assert set(drawn) == set(kinds)
    assert all(abs(count - 900 / len(kinds)) < 90 for count in drawn.values())


def test_even_games_are_random_and_odd_ones_by_kind() -> None:
    game = registry.make("leduc_poker")
    games = [varied_game(game, 5, index) for index in range(4)]
    plain = collect(game, 4, 5)
    assert [games[0], games[2]] == [plain[0], plain[2]]
    assert games[3] == varied_game(game, 5, 3) == play(game, [by_kind] * 2, game_seed(5, 3), 3)
