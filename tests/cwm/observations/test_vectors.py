"""Observations as vectors and back: exact for what fits, a named error for what does not."""

import itertools
import json
import math
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cwm.observations.structures import MOST_REMEMBERED
from cwm.observations.values import (
    InexactNumberError,
    LongerListError,
    ObservationVectorError,
    UnseenCategoryError,
    UnseenStructureError,
    VectorLengthError,
)
from cwm.observations.vectors import canonical, infer, round_trip
from cwm.trajectories.recorded import game_seed, play, random_policy
from games import registry

NAMED = {"InexactNumberError", "LongerListError", "UnseenCategoryError", "UnseenStructureError"}
WHOLE = st.integers(-(2**50), 2**50)
REAL = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False, min_value=-1e12, max_value=1e12)
TEXTS = st.text(st.sampled_from("ab0179 -"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | WHOLE | REAL | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("pqrs"), inner, max_size=4),
    max_leaves=12,
)
OBSERVATION = st.fixed_dictionaries(
    {
        "player": st.integers(0, 1),
        "cards": st.lists(st.sampled_from(["J", "Q", "K"]), max_size=3),
        "board": st.lists(st.lists(st.none() | st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=2),
    },
    optional={"pot": st.integers(0, 100), "won": st.booleans()},
)


@given(st.lists(JSON, min_size=1, max_size=12))
@example([[33554432.0, 6.277069631363922e-301]])
@settings(max_examples=150, deadline=None)
def test_every_sample_comes_back_exactly_and_every_vector_is_as_long(samples: list[Any]) -> None:
    vectors = infer(samples)
    for sample in samples:
        vector = vectors.encode(sample)
        assert len(vector) == vectors.width == len(vectors.names())
        assert all(type(number) is float and math.isfinite(number) for number in vector)
        assert canonical(vectors.decode(vector)) == canonical(sample)


@given(st.lists(JSON, min_size=1, max_size=8), JSON)
@settings(max_examples=150, deadline=None)
def test_anything_else_comes_back_exactly_or_is_refused_by_name(samples: list[Any], other: Any) -> None:
    found = round_trip(samples, [other])
    assert found.changed == 0
    assert found.exact + sum(found.errors.values()) == 1
    assert set(found.errors) <= NAMED
    assert found.first_error == "" or found.first_error.endswith(".")


@given(st.lists(OBSERVATION, min_size=40, max_size=60), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_samples_changes_nothing(samples: list[Any], rng: random.Random) -> None:
    shuffled = list(samples)
    rng.shuffle(shuffled)
    assert infer(shuffled) == infer(samples)


@given(st.lists(OBSERVATION, min_size=1, max_size=20), st.data())
@settings(max_examples=50, deadline=None)
def test_a_vector_with_small_errors_is_read_as_what_it_was_made_from(samples: list[Any], data: st.DataObject) -> None:
    # As a network writes them: whole numbers up to 100 are steps of at least 1/128.
    vectors = infer(samples)
    sample = data.draw(st.sampled_from(samples))
    noise = data.draw(st.lists(st.floats(-0.003, 0.003), min_size=vectors.width, max_size=vectors.width))
    vector = [number + error for number, error in zip(vectors.encode(sample), noise, strict=True)]
    assert vectors.decode(vector) == sample


def test_each_kind_of_value_has_its_numbers() -> None:
    samples = [
        {"who": "x", "n": 3, "won": True, "card": None, "log": ["go 4 to 2,5"], "pay": 0.5},
        {"who": "o", "n": 7, "won": False, "card": 2, "log": [], "pay": -6.0, "more": []},
    ]
    vectors = infer(samples, headroom=0.0)
    found = dict(zip(vectors.names(), vectors.encode(samples[0]), strict=True))
    assert found[".card is none"] == 1.0
    assert (found[".log length"], found[".n"], found[".pay"], found[".won"]) == (0.5, 0.0, 0.0625, 1.0)
    assert (found[".who=o"], found[".who=x"], found[".more is there"]) == (0.0, 1.0, 0.0)
    assert vectors.encode(samples[1])[vectors.names().index(".n")] == 1.0


def test_texts_are_listed_then_patterns_then_spelled() -> None:
    moves = [{"move": f"move {card} to {row},{row}"} for card in range(9) for row in range(9)]
    assert infer(moves).names() == [".move#0", ".move#1", ".move#2"]
    words = [{"word": "".join(letters)} for letters in zip("abcdefgh" * 12, "hgfedcb" * 14, strict=False)]
    assert infer(words).names()[:3] == [".word length", ".word[0]=a", ".word[0]=b"]
    colours = [{"colour": colour} for colour in ("red", "green", "blue")]
    assert infer(colours).names() == [".colour=blue", ".colour=green", ".colour=red"]
    assert infer(colours[:1]).names() == []


@pytest.mark.parametrize(
    ("other", "error", "message"),
    [
        ({"colour": "pink"}, UnseenCategoryError, ".colour is 'pink'; the samples have 'blue', 'red' there."),
        ({"cards": [1, 2, 3, 4]}, LongerListError, ".cards has 4 items; in the samples it has at most 3."),
        ({"pair": [1]}, LongerListError, ".pair has 1 items; in the samples it has 2."),
        ({"pair": [1, "2"]}, UnseenStructureError, ".pair[1] is of type text; the samples have int there."),
        ({"more": 1}, UnseenStructureError, "the observation has the key 'more', which no sample has."),
        ({"n": 2**60}, InexactNumberError, f".n is {2**60}: a float holds whole numbers up to 2 ** 53 without loss."),
        ({"n": True}, UnseenStructureError, ".n is of type bool; the samples have int there."),
        ({"pay": math.nan}, InexactNumberError, ".pay is nan: it cannot be scaled by 2 ** -2 without loss."),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    other: dict[str, Any], error: type[ObservationVectorError], message: str
) -> None:
    first = {"colour": "red", "cards": [1, 2, 3], "pair": [1, 2], "n": 4, "pay": 2.5}
    samples = [first, {**first, "colour": "blue", "cards": [1]}]
    with pytest.raises(error) as raised:
        infer(samples, headroom=0.0).encode({**first, **other})
    assert str(raised.value) == message


def test_a_missing_key_is_refused_where_all_samples_have_it() -> None:
    with pytest.raises(UnseenStructureError, match="the observation lacks 'b', which all samples have"):
        infer([{"a": 1, "b": 2}]).encode({"a": 1})


def test_headroom_lets_lists_of_varying_length_grow_and_no_other() -> None:
    samples = [{"hand": [1] * length, "row": [0] * 4} for length in (2, 4)]
    vectors = infer(samples, headroom=0.5)
    longer = {"hand": [1] * 6, "row": [0] * 4}
    assert vectors.decode(vectors.encode(longer)) == longer
    with pytest.raises(LongerListError, match="at most 6"):
        vectors.encode({"hand": [1] * 7, "row": [0] * 4})
    with pytest.raises(LongerListError, match="it has 4"):
        vectors.encode({"hand": [1], "row": [0] * 5})


def test_numbers_beyond_the_samples_come_back_exactly() -> None:
    vectors = infer([{"n": 0, "x": 0.1}, {"n": 9, "x": 0.7}])
    for n, x in [(-5, 1e6), (10**9, -0.1), (7, 0.30000000000000004)]:
        assert vectors.decode(vectors.encode({"n": n, "x": x})) == {"n": n, "x": x}


def test_a_vector_of_another_length_or_with_no_number_is_refused() -> None:
    vectors = infer([{"a": 1}])
    with pytest.raises(VectorLengthError, match="has 2 numbers; this schema has 1"):
        vectors.decode([0.0, 1.0])
    with pytest.raises(ObservationVectorError, match="not finite"):
        vectors.decode([math.inf])


def test_a_schema_needs_samples_of_json() -> None:
    with pytest.raises(ObservationVectorError, match="at least one sample"):
        infer([])
    with pytest.raises(ObservationVectorError, match="of type set"):
        infer([{"a": {1}}])


def test_a_round_trip_counts_what_came_back_and_why_the_rest_did_not() -> None:
    samples = [{"c": "x"}, {"c": "y"}]
    found = round_trip(samples, [{"c": "x"}, {"c": "z"}, {"d": 1}, {"c": "y"}])
    assert (found.exact, found.changed, found.share, found.width) == (2, 0, 0.5, 2)
    assert found.errors == {"UnseenCategoryError": 1, "UnseenStructureError": 1}
    assert found.first_error == ".c is 'z'; the samples have 'x', 'y' there."
    assert json.loads(json.dumps(found.to_json()))["share"] == 0.5
    assert round_trip(samples, []).share is None


def test_a_place_takes_over_a_larger_vocabulary_of_its_texts() -> None:
    ranks = ["ace", "king", "queen", "jack", "ten"]
    samples = [{"hand": rank, "pile": rank if rank != "ten" else "ace"} for rank in ranks] * 20
    vectors = infer(samples)
    assert vectors.decode(vectors.encode({"hand": "ace", "pile": "ten"})) == {"hand": "ace", "pile": "ten"}
    with pytest.raises(UnseenCategoryError):
        vectors.encode({"hand": "ace", "pile": "nine"})


MORE = {"overcooked-v2-cramped-room": 4000}
"""Samples of a game so long that fewer would be of one game alone."""


def observed(name: str, at_least: int, seed: int) -> list[Any]:
    """Returns what all players see in whole random games."""
    game, found = registry.make(name), list[Any]()
    for number in itertools.count():
        if len(found) >= at_least:
            return found
        trajectory = play(game, [random_policy] * game.info.num_players, game_seed(seed, number))
        found += [observation for step in trajectory.steps for observation in step.observations]
    raise AssertionError


@pytest.mark.parametrize("name", registry.ids())
def test_held_out_observations_of_every_game_come_back_exactly_or_are_refused_by_name(name: str) -> None:
    # Every step shows as many observations as there are players, and they are much alike.
    samples = MORE.get(name, 300 * registry.make(name).info.num_players)
    found = round_trip(observed(name, max(600, samples), 0), random.Random(0).sample(observed(name, 25, 99), 20))
    assert found.changed == 0
    assert found.exact + sum(found.errors.values()) == found.held_out == 20
    assert set(found.errors) <= NAMED
    assert found.exact >= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.ids())
def test_held_out_observations_of_every_game_come_back_exactly_given_enough_samples(name: str) -> None:
    found = round_trip(observed(name, 20_000, 0), observed(name, 2000, 99))
    assert found.first_error == ""
    assert found.exact == found.held_out
    assert found.width < 20_000


def test_values_that_are_equal_and_of_different_types_are_written_apart_again_and_again():
    values = [True, 1, False, 0, -0.0, 0.0, 1.0, None, "1", "0"]
    samples = [{"value": value} for value in values]
    vectors = infer(samples)
    fresh = [infer(samples).encode(sample) for sample in samples]
    for _ in range(2):
        assert [vectors.encode(sample) for sample in samples] == fresh
        back = [vectors.decode(vectors.encode(sample))["value"] for sample in samples]
        assert [(type(value), str(value)) for value in back] == [(type(value), str(value)) for value in values]


def test_place_of_ever_new_values_remembers_not_all_of_them():
    vectors = infer([{"number": 0}, {"number": 1 << 20}])
    part = vectors.part.parts[0].fields[0].part
    for number in range(3 * MOST_REMEMBERED):
        assert vectors.decode(vectors.encode({"number": number})) == {"number": number}
    assert len(part._written) == MOST_REMEMBERED
