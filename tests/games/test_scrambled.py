"""Games with scrambled words: the same games, told in words that mean nothing."""

import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import registry
from games.api import TERMINAL, GameError, PlaysOut, ReportsOutcome, ResamplesHistory, state_to_json
from games.contract import game as contract
from games.scrambled import Cipher, scramble

NAMES = ("tic_tac_toe", "mnk", "quadranto", "leduc_poker", "yokai-9c-2p")
TEXTS = st.text(st.sampled_from("abcXYZrgb0189_-, ()é"), max_size=24)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def words(value: Any) -> set[str]:
    """Returns all words of a JSON value."""
    return set(re.findall("[A-Za-z]{3,}", repr(value))) - {"None", "True", "False"}


@given(JSON, st.integers(0, 50))
@settings(max_examples=100, deadline=None)
def test_what_was_enciphered_comes_back(value: Any, seed: int) -> None:
    cipher = Cipher(seed)
    assert cipher.decipher(cipher.encipher(value)) == value


@given(TEXTS, TEXTS, st.integers(0, 50))
@settings(max_examples=100, deadline=None)
def test_different_texts_stay_different_and_no_letter_stays(one: str, other: str, seed: int) -> None:
    cipher = Cipher(seed)
    assert (cipher.encipher(one) == cipher.encipher(other)) == (one == other)
    for before, after in zip(one, cipher.encipher(one), strict=True):
        assert (before != after) == (before.isascii() and before.isalpha())
        assert before.isupper() == after.isupper()


def test_letters_of_a_word_do_not_show_their_pattern() -> None:
    found = {Cipher(seed).encipher("eeeeeeee") for seed in range(20)}
    assert len(found) == 20
    assert sum(len(set(word)) > 2 for word in found) == 20


@pytest.mark.parametrize("name", NAMES)
def test_scrambled_game_fulfils_the_contract(name: str) -> None:
    contract.assert_game(registry.make(f"scrambled:{name}"), games=2)


@pytest.mark.parametrize("name", NAMES)
def test_scrambled_game_goes_as_the_game_itself_in_other_words(name: str) -> None:
    game, other = registry.make(name), registry.make(f"scrambled:{name}", seed=3)
    cipher, rng = Cipher(3), random.Random(f"words {name}")
    assert isinstance(other, ResamplesHistory) == isinstance(game, ResamplesHistory)
    assert isinstance(other, PlaysOut) == isinstance(game, PlaysOut)
    assert isinstance(other, ReportsOutcome) == isinstance(game, ReportsOutcome)
    state, twin = game.initial_state(), other.initial_state()
    while True:
        assert state_to_json(other, twin) == cipher.encipher(state_to_json(game, state))
        assert other.observations(twin) == cipher.encipher(game.observations(state))
        assert not words(state_to_json(game, state)) & words(state_to_json(other, twin))
        player = game.current_player(state)
        assert (other.current_player(twin), other.rewards(twin)) == (player, game.rewards(state))
        legal = game.legal_actions(state)
        assert other.legal_actions(twin) == [cipher.encipher(action) for action in legal]
        if player == TERMINAL:
            return
        action = rng.choice(legal)
        state, twin = game.apply_action(state, action), other.apply_action(twin, cipher.encipher(action))


def test_scrambled_histories_are_resampled_in_scrambled_words() -> None:
    assert contract.check_leaks(registry.make("scrambled:leduc_poker"), games=3) == []


def test_a_game_is_scrambled_once() -> None:
    with pytest.raises(GameError, match="scrambled already"):
        scramble(registry.make("scrambled:tic_tac_toe"))


def test_a_scrambled_game_has_no_rules_text_and_an_unknown_one_is_refused() -> None:
    with pytest.raises(GameError, match="no rules text"):
        registry.rules("scrambled:mnk")
    with pytest.raises(GameError, match="There is no game 'mnx'"):
        registry.make("scrambled:mnx")
