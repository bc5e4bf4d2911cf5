"""Decks by the seeds of the Hanabi Learning Environment, against what that program dealt."""

import hashlib
from collections import Counter

import pytest

from games.api import GameError
from games.hanabi.config import VARIANTS
from games.hanabi.decks import deck
from games.hanabi.game import Hanabi

TWO = VARIANTS["hanabi-2p"]


def test_decks_of_300_seeds_are_those_of_the_program() -> None:
    lines = "".join(f"{' '.join([str(seed), *deck(f'hle:{seed}', TWO)])}\n" for seed in range(300))
    assert hashlib.sha256(lines.encode()).hexdigest() == (
        "6679644587246489970be67ef83fed9a5f9ebd0110c690ae513647a7cd8f03c4"
    )


def test_first_cards_of_the_papers_seeds() -> None:
    assert deck("hle:1", TWO)[:10] == ["B5", "B3", "R3", "B4", "Y1", "Y5", "G1", "W1", "B2", "W5"]
    assert deck("hle:3", VARIANTS["hanabi-5p"])[:10] == ["R2", "B1", "R3", "G4", "G1", "R1", "R1", "Y2", "R4", "W3"]


@pytest.mark.parametrize("name", VARIANTS)
def test_deck_holds_every_card_as_often_as_it_should(name: str) -> None:
    for seed in range(5):
        assert Counter(deck(f"hle:{seed}", VARIANTS[name])) == VARIANTS[name].deck()
    assert deck("hle-random:1", VARIANTS[name]) != deck("hle:1", VARIANTS[name])


@pytest.mark.parametrize("name", ["hle:", "hle:-1", "hle:x", "1", "hle:4294967296", "other:1", ""])
def test_deck_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(GameError, match="give hle:SEED or hle-random:SEED"):
        deck(name, TWO)


def test_game_deals_a_named_deck_in_its_order() -> None:
    game = Hanabi(TWO)
    state = game.initial_state()
    for action in game.named_deck("hle:1")[:10]:
        state = game.apply_action(state, action)
    hands = game.state_to_json(state)["hands"]
    assert [slot["card"] for slot in hands[0]] == ["B5", "B3", "R3", "B4", "Y1"]
    assert [slot["card"] for slot in hands[1]] == ["Y5", "G1", "W1", "B2", "W5"]
