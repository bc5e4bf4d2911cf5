"""Stored schemas of observations: read back they write the same vectors, and damaged ones are refused in a sentence."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwm.observations.schema import SchemaFormatError
from cwm.observations.values import ObservationVectorError
from cwm.observations.vectors import ObservationVectors, infer
from cwm.trajectories.recorded import collect
from games import registry

WHOLE = st.integers(-(2**50), 2**50)
REAL = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.sampled_from("ab0179 -é\x00"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | WHOLE | REAL | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("pqrs"), inner, max_size=4),
    max_leaves=12,
)
SAMPLES = [
    {"who": "x", "n": 3, "won": True, "card": None, "log": ["go 4 to 2,5"], "pay": 0.5},
    {"who": "o", "n": 7, "won": False, "card": 2, "log": [], "pay": -6.0, "more": [], "word": "abba"},
    *({"who": "z", "word": letter * 3} for letter in "bcdefgh"),
]


def stored(vectors: ObservationVectors) -> Any:
    return json.loads(json.dumps(vectors.to_json()))


@given(st.lists(JSON, min_size=1, max_size=12), st.lists(JSON, max_size=3))
@settings(max_examples=80, deadline=None)
def test_a_schema_that_was_stored_and_read_back_writes_the_same_vectors(samples: list[Any], others: list[Any]) -> None:
    vectors = infer(samples)
    back = ObservationVectors.from_json(stored(vectors))
    assert back == vectors
    assert back.names() == vectors.names()
    for value in [*samples, *others]:
        try:
            expected = vectors.encode(value)
        except ObservationVectorError as error:
            with pytest.raises(type(error)):
                back.encode(value)
        else:
            assert back.encode(value) == expected
            assert json.dumps(back.decode(expected)) == json.dumps(vectors.decode(expected))


@pytest.mark.parametrize("game_id", ["gin_rummy", "backgammon", "yokai-9c-2p"])
def test_schemas_of_real_games_come_back(game_id: str) -> None:
    games = collect(registry.make(game_id), 2, 0)
    vectors = infer(seen for game in games for step in game.steps for seen in step.observations)
    assert ObservationVectors.from_json(stored(vectors)) == vectors


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Returns the path of every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in places(item, (*path, key)))]


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


def opened(data: Any) -> tuple[ObservationVectors | None, str]:
    """Returns the stored schema, or why it is refused."""
    try:
        return ObservationVectors.from_json(data), ""
    except SchemaFormatError as error:
        return None, str(error)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_schema_is_refused_in_a_sentence_or_is_another_schema_that_is_whole(data: st.DataObject) -> None:
    written = stored(infer(SAMPLES))
    value = data.draw(st.sampled_from([None, True, -1, 5, 0.5, 10**30, "", "text", [], {}, ["a", "a"], [None]]))
    broken = changed(written, data.draw(st.sampled_from(places(written))), value)
    found, said = opened(broken)
    assert (said.endswith("."), said.count(". ")) == (found is None, 0)
    if found is not None:
        assert stored(found) == broken
        assert len(found.names()) == found.width


def without(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ([], "the file is [], expected was an object with version, width, schema"),
        ("version", "the file is ['schema', 'width'], expected was an object with version, width, schema"),
        ({"version": 2}, "the schema has format 2; this version reads 1: restore the schema"),
        ({"version": True}, "the schema has format True; this version reads 1"),
        ({"width": 3}, "width is 3, expected was "),
        ({"schema": {"part": "tensor"}}, "schema is {'part': 'tensor'}, expected was an object whose 'part' is one of"),
        ({"schema": {"part": "null"}}, "schema is a part of kind 'null', expected was one of kind 'one_of'"),
        (
            {"schema": {"part": "one_of", "kinds": ["int"], "parts": [{"part": "flag"}]}},
            "schema.parts is 1 parts, expected was one for each of the kinds int, and fit for it",
        ),
        (
            {"schema": {"part": "listing", "item": {"part": "flag"}, "shortest": 3, "longest": 2}},
            "schema.longest is 2, expected was a whole number from 3",
        ),
        (
            {"schema": {"part": "listing", "item": {"part": "flag"}, "shortest": 0, "longest": 10**9}},
            "schema.longest is 1000000000, expected was a whole number from 0 to ",
        ),
    ],
)
def test_a_damaged_schema_is_refused_with_its_place(broken: Any, message: str) -> None:
    written = stored(infer(SAMPLES))
    if isinstance(broken, str):
        broken = without(written, broken)
    elif isinstance(broken, dict):
        broken = written | broken
    with pytest.raises(SchemaFormatError) as caught:
        ObservationVectors.from_json(broken)
    assert message in str(caught.value)
