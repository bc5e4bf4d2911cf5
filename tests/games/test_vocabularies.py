"""Each game's list of names holds all that occurs in its records; `python -m tests.renew_vocabularies` renews it."""

from collections.abc import Mapping
from typing import Any

import pytest

from cwm.trajectories.varied import varied_game
from cwm.trajectories.vocabulary import Vocabulary
from games import registry
from games.api import CHANCE
from tests.cwm.trajectories.test_vocabulary import fits
from tests.renew_vocabularies import GAMES, SEED, collected, tellings

TELLINGS = [(name, params) for rows in tellings().values() for name, params in rows]
FEW = 4


def kept(name: str) -> Vocabulary:
    game_id, drawn, _ = name.partition(registry.DRAWN)
    found = registry.vocabulary(game_id, bool(drawn))
    assert found is not None
    return Vocabulary.from_json(found)


@pytest.mark.parametrize(("name", "params"), TELLINGS, ids=[name for name, _ in TELLINGS])
def test_other_games_show_no_other_names(name: str, params: Mapping[str, Any]):
    game = registry.make(name.removesuffix(registry.DRAWN), **params)
    names = kept(name)
    played = [varied_game(game, SEED + 1, index) for index in range(FEW)]
    for step in (step for trajectory in played for step in trajectory.steps):
        listed = names.chance if step.player == CHANCE else names.actions
        # The deals of bargaining are very many, and of one pattern.
        for action in step.legal_actions[:60]:
            assert any(fits(pattern, action) for pattern in listed), action
    found = Vocabulary.of(played)
    assert set(found.state_keys) <= set(names.state_keys)
    assert set(found.observation_keys) <= set(names.observation_keys)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "params"), TELLINGS, ids=[name for name, _ in TELLINGS])
def test_the_lists_are_those_of_a_thousand_games(name: str, params: Mapping[str, Any]):
    assert collected(name, params, GAMES) == kept(name)


def test_games_of_others_have_none():
    assert registry.vocabulary("open_spiel:tic_tac_toe") is None


def test_the_rule_book_of_several_games_says_which_it_is():
    assert registry.rule_book("yokai-9c-3p").endswith("## This game\n\nYōkai, 9 cards, 3 players.\n")
    assert "This game" not in registry.rule_book("leduc_poker")
