"""The names in recorded games become short lists, which every string of the games fits."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwm.trajectories.recorded import collect
from cwm.trajectories.vocabulary import LONGEST_NAME, MOST_BUILDS, MOST_WORDS, Vocabulary, patterns
from games import registry


def fits(pattern: str, string: str) -> bool:
    """Tells whether a string is one that a pattern of `patterns` stands for."""
    described = re.fullmatch(r"((?:\d+ or )*\d+) characters, each one of (.*)", pattern, flags=re.DOTALL)
    if described is not None:
        lengths = [int(length) for length in described[1].split(" or ")]
        return len(string) in lengths and set(string) <= set(described[2])
    pieces = re.split(r"(\{[^}]*\}|#)", pattern)
    return re.fullmatch("".join(map(_expression, pieces)), string) is not None


def _expression(piece: str) -> str:
    if piece == "#":
        return r"\d+"
    if piece.startswith("{"):
        return f"(?:{'|'.join(map(re.escape, piece[1:-1].split('|')))})"
    return re.escape(piece)


def test_strings_that_differ_by_numbers_alone_are_one_pattern():
    assert patterns(["move 1 to 2,3", "move 12 to 0,0", "end"]) == ["end", "move # to #,#"]


def test_many_words_at_one_place_are_listed_there():
    cards = [rank + suit for rank in "AKQJ" for suit in "CDHS"]
    assert patterns(f"play {card}" for card in cards) == ["play {" + "|".join(sorted(cards)) + "}"]


def test_a_place_with_too_many_words_is_described_by_its_characters():
    words = [a + b for a in "abcdefgh" for b in "ijklmnop"]
    assert len(words) > MOST_WORDS
    assert patterns(words) == ["2 characters, each one of abcdefghijklmnop"]


def test_rows_of_a_board_are_described_by_their_characters():
    rows = [format(number, "05b").replace("0", ".").replace("1", "x") for number in range(32)]
    assert len(rows) > MOST_BUILDS
    assert patterns(rows) == ["5 characters, each one of .x"]


def test_words_of_one_length_with_the_same_marks_are_told_apart_from_others():
    found = patterns([*(f"draw {letter}" for letter in "abcdefghijklmn"), "stop", "pass"])
    assert found == ["draw {a|b|c|d|e|f|g|h|i|j|k|l|m|n}", "{pass|stop}"]


@given(st.sets(st.text(alphabet="abAB19 _-,.", min_size=1, max_size=6), max_size=60))
def test_every_string_fits_a_pattern(strings):
    found = patterns(strings)
    assert all(any(fits(pattern, string) for pattern in found) for string in strings)


@given(st.sets(st.text(alphabet="ab1 ", min_size=1, max_size=4), max_size=30))
def test_order_and_repetition_change_nothing(strings):
    assert patterns([*strings, *strings]) == patterns(sorted(strings, reverse=True))


def test_names_of_leduc_poker_are_those_of_its_records():
    found = Vocabulary.of(collect(registry.make("leduc_poker"), 20, 0))
    assert found.actions == ("Call", "Fold", "Raise")
    assert found.chance == ("Chance outcome:#",)
    assert "private_cards" in found.state_keys
    assert "private_cards" not in found.observation_keys
    # "Call" is a value of states, too, and stands among the actions already.
    assert found.state_words == ()


def test_closed_vocabulary_holds_what_players_see_alone():
    found = Vocabulary.of(collect(registry.make("quadranto"), 5, 0))
    closed = found.closed()
    assert (closed.chance, closed.state_keys, closed.state_words) == ((), (), ())
    assert (closed.actions, closed.observation_keys) == (found.actions, found.observation_keys)


def test_a_text_of_several_lines_is_no_name():
    found = Vocabulary.of(collect(registry.make("open_spiel:breakthrough(rows=6,columns=5)"), 1, 0))
    assert not any("\n" in word or len(word) > LONGEST_NAME for word in found.state_words + found.observation_words)


def test_lists_come_back_from_json():
    found = Vocabulary.of(collect(registry.make("kuhn_poker"), 5, 0))
    assert Vocabulary.from_json(found.to_json()) == found
    with pytest.raises(KeyError):
        Vocabulary.from_json({"actions": []})
