"""Plain JSON: what is let through, and where two values first differ."""

import json
import math
from collections import OrderedDict, namedtuple
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwm.sandbox.wire.plain_json import NotJsonError, first_difference, normalise

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab{é"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_plain_values_pass_unchanged_and_equal_themselves(value):
    assert normalise(value) == value
    assert first_difference(value, json.loads(json.dumps(value))) is None


@given(VALUES, VALUES)
def test_a_difference_is_found_from_both_sides_or_from_neither(left, right):
    assert (first_difference(left, right) is None) == (first_difference(right, left) is None)


def test_subclasses_become_plain():
    Pair = namedtuple("Pair", "a b")

    class Colour(IntEnum):
        RED = 1

    class Text(str):
        def __str__(self):
            return "other"

    value = normalise(OrderedDict(p=Pair(1, 2), c=Colour.RED, t=Text("own")))
    assert value == {"p": [1, 2], "c": 1, "t": "own"}
    assert [type(item) for item in value.values()] == [list, int, str]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, {2}]}, r"\.a\[1\] is a set"),
        ({1: 2}, "the value has the key 1 of type int; keys must be strings"),
        ([math.nan], r"\[0\] is nan; a finite number was expected"),
        (-math.inf, "the value is -inf"),
        (b"x", "the value is a bytes"),
        ("\udc80", "half of a surrogate pair"),
        ({"n": 10**5000}, r"\.n is a whole number of more than 4000 digits"),
    ],
)
def test_what_is_not_json_is_named_with_its_place(value, message):
    with pytest.raises(NotJsonError, match=message):
        normalise(value)


@pytest.mark.parametrize(
    ("expected", "got", "path", "message"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, ".a[1].b", "expected 2, got 3"),
        ({"a": 1}, {}, ".a", "expected 1, but the key is missing"),
        ({}, {"a": 1}, ".a", "expected no such key, got 1"),
        ([1, 2], [1], "", "expected 2 items, got 1"),
        (True, 1, "", "expected True, got 1"),
        (0, None, "", "expected 0, got None"),
        ("1", 1, "", "expected '1', got 1"),
    ],
)
def test_the_first_difference_has_a_path(expected, got, path, message):
    difference = first_difference(expected, got)
    assert (difference.path, difference.message) == (path, message)


def test_whole_floats_equal_ints():
    assert first_difference([1, 2.0], [1.0, 2]) is None
