"""Frames: what one process says the other reads, and what is none is one kind of error."""

import io
import json

import numpy as np
import pytest

from cwm.twins.frames import HEADER, FrameError, packed, received


def frame(text, body=b""):
    return HEADER.pack(len(text), len(body)) + text + body


def head_of(*rows, head=None):
    return json.dumps({"head": {} if head is None else head, "arrays": rows}).encode()


def test_what_is_packed_is_received():
    arrays = {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.zeros((0, 2), np.float32), "c": np.array(True)}
    head, found = received(io.BytesIO(packed({"x": 1}, arrays)).read)
    assert head == {"x": 1}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].tolist()) == (array.dtype, array.tolist())


@pytest.mark.parametrize(
    "data",
    [
        frame(b"[" * 200_000),
        frame(b"[]"),
        frame(head_of(head=5)),
        frame(head_of(["a", "float32", [float("inf")]]), bytes(4)),
        frame(head_of(["a", "float64", [1]]), bytes(8)),
        frame(head_of(["a", "float32", [-1]])),
        frame(head_of(["a", "float32", [0, 2**70]])),
        frame(head_of(["a", "float32", [1] * 100]), bytes(4)),
        frame(head_of(["a", "float32", [2]]), bytes(4)),
        frame(head_of(["a", "float32", [1]]), bytes(8)),
    ],
    ids=lambda data: repr(data[12:40]),
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(FrameError):
        received(io.BytesIO(data).read)


@pytest.mark.parametrize("announced", [8, 4], ids=["larger than allowed", "other than its head says"])
def test_arrays_that_are_too_large_are_not_read(announced):
    text = head_of(["a", "float32", [2]])
    stream = io.BytesIO(HEADER.pack(len(text), announced) + text + bytes(8))
    with pytest.raises(FrameError):
        received(stream.read, most_bytes=4)
    assert len(stream.read()) >= 8
