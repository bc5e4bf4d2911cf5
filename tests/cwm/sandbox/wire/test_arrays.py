"""Arrays behind a frame's JSON: what fits is taken whole, whatever else a worker may tell is refused."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwm.sandbox.parent.replies import parse
from cwm.sandbox.wire import arrays
from cwm.sandbox.wire.api import Outcome
from cwm.sandbox.wire.arrays import ArrayError, BinaryArray

TWO = {
    "rewards": BinaryArray("float32", (2,), struct.pack("<2f", 0.5, -1.0)),
    "legal": BinaryArray("uint8", (2, 3), bytes([1, 0, 1, 0, 1, 0])),
}
REPLY = {"id": "ab", "outcome": "ok", "value": {"x": 1}, "failure": None, "more": False, "output": ""}


def frame(told, numbers, separator=b"\0"):
    return json.dumps(REPLY | {"arrays": told}).encode("ascii") + separator + numbers


def test_arrays_come_back_as_they_were_sent():
    found = parse(frame(arrays.described(TWO), arrays.joined(TWO)[1:]), "ab", with_arrays=True)
    assert found is not None
    assert found.reply.outcome is Outcome.OK
    assert found.reply.value == {"x": 1}
    assert found.reply.arrays == TWO


def test_frame_without_arrays_has_no_byte_behind_its_json():
    assert arrays.joined({}) == b""
    found = parse(frame([], b"", b""), "ab", with_arrays=True)
    assert found is not None
    assert found.reply.arrays == {}


def test_arrays_that_nobody_asked_for_break_the_protocol():
    assert parse(frame(arrays.described(TWO), arrays.joined(TWO)[1:]), "ab") is None


@pytest.mark.parametrize(
    "told",
    [
        [["rewards", "float32", [3]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", [2]]],
        [["rewards", "float32", [2]], ["rewards", "uint8", [2, 3]]],
        [["rewards", "float64", [1]], ["legal", "uint8", [2, 3]]],
        [["rewards", ["float32"], [2]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", [-2]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", [2.0]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", [True, 2]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", [1 << 30] * 4], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", [1 << 40]]],
        [["rewards", "float32", [2, 1, 1, 1, 1]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32", "22"], ["legal", "uint8", [2, 3]]],
        [[7, "float32", [2]], ["legal", "uint8", [2, 3]]],
        [["rewards", "float32"]],
        [["none", "uint8", [0]]] * 17,
        {"rewards": ["float32", [2]]},
        "float32",
        None,
    ],
)
def test_description_that_does_not_fit_the_bytes_breaks_the_protocol(told):
    assert parse(frame(told, arrays.joined(TWO)[1:]), "ab", with_arrays=True) is None


@pytest.mark.parametrize("missing", [1, 7, 14])
def test_bytes_that_are_missing_or_too_many_break_the_protocol(missing):
    numbers = arrays.joined(TWO)[1:]
    assert parse(frame(arrays.described(TWO), numbers[:-missing]), "ab", with_arrays=True) is None
    assert parse(frame(arrays.described(TWO), numbers + bytes(missing)), "ab", with_arrays=True) is None


def test_frame_without_its_json_breaks_the_protocol():
    assert parse(b"\0" + arrays.joined(TWO), "ab", with_arrays=True) is None
    assert parse(b"", "ab", with_arrays=True) is None


def test_array_has_as_many_bytes_as_its_shape():
    with pytest.raises(ArrayError, match=r"shape \(2,\) has 7 bytes, expected 8"):
        BinaryArray("float32", (2,), bytes(7))
    with pytest.raises(ArrayError, match="dtype is 'object'"):
        BinaryArray("object", (1,), bytes(8))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=8), st.binary())
def test_whatever_is_told_of_whatever_bytes_is_refused_by_name_or_fits(told, numbers):
    try:
        found = arrays.taken(told, numbers)
    except ArrayError:
        return
    assert sum(len(array.data) for array in found.values()) == len(numbers)
