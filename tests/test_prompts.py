"""The prompts by which games are told by their rule books stay as they are: recordings answer them to the letter."""

import json

import pytest

from games import registry
from games.posg.registry import ids as simultaneous_ids
from tests import renew_prompts

FROZEN = json.loads(renew_prompts.FILE.read_text(encoding="ascii"))

LONG = ("gin_rummy", "yokai-9c-3p", "yokai-9c-4p", "yokai-16c-2p", "yokai-16c-3p", "yokai-16c-4p", "yokai-8c-2p")
LONG += ("hanabi-2p", "hanabi-3p", "hanabi-4p", "hanabi-5p", "hanabi-small-2p")
LONG += tuple(simultaneous_ids())
"""Their tests take seconds to make."""
GAMES = [pytest.param(game, marks=pytest.mark.slow if game in LONG else ()) for game in registry.ids()]


def test_every_game_has_frozen_prompts() -> None:
    assert sorted(FROZEN) == sorted(registry.ids())


@pytest.mark.parametrize("game", GAMES)
def test_prompts_of_the_rule_book_are_the_frozen_ones(game: str) -> None:
    """If they changed on purpose: `python -m tests.renew_prompts`, and the recordings are made again."""
    assert renew_prompts.hashes(game) == FROZEN[game]
