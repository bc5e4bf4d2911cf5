"""Batches of a program against a twin whose answers are given: what counts as equal, and what does not."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from cwm.twins import comparing
from cwm.twins.comparing import Batch, compare
from cwm.twins.form import ArrayForm, TwinForm
from cwm.twins.proof import ProofResult, ProofState

FORM = TwinForm((ArrayForm("count", "int8", ()), ArrayForm("mark", "float32", (1,))), ("go",), ("a", "b"), 1, 1)
STATES = ['{"count":0}', '{"count":1}']
ROWS = (np.array([[0], [1]], np.int32), np.zeros((2, 1), np.float32))
SEEN = {
    "player": np.array([-1, 0], np.int32),
    "legal": np.array([[0], [1]], np.uint8),
    "chance": np.array([[0.25, 0.75], [0, 0]], np.float32),
    "rewards": np.array([[0], [1]], np.float32),
    "observations": np.array([[[0]], [[1]]], np.float32),
}
BATCH = Batch(
    STATES,
    np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1]], np.int32),
    {**SEEN, "fit": np.ones((2, 1), np.uint8)},
    [],
    0,
    1,
    0,
    frozenset(),
    [],
)


class Twin:
    """Answers what it is given to answer."""

    def __init__(self, rows=ROWS, **seen):
        self.rows = rows
        self.seen = SEEN | {"legal": SEEN["legal"].astype(bool)} | seen

    def init(self):
        return self.rows[0][:1], self.rows[1][:1]

    def step(self, rows, indices):
        count = len(indices)
        return np.repeat(self.rows[0][1:], count, 0), np.repeat(self.rows[1][1:], count, 0)

    def look(self, rows):
        return self.seen


def differences(twin=None, encoded=ROWS, decoded=tuple(STATES), problems=()):
    encoder = SimpleNamespace(encoded=lambda form, states: (encoded, []))
    given = []

    def decode(form, rows):
        given.append(rows)
        return list(decoded), list(problems)

    found = compare(BATCH, FORM, encoder, SimpleNamespace(decoded=decode), twin or Twin())
    return [f"{one.field}: {one.message}" for one in found], given[0]


def test_a_twin_that_answers_as_its_program_differs_nowhere():
    assert differences()[0] == []


def test_floats_of_a_state_are_compared_bit_for_bit():
    marked = (ROWS[0], np.full((2, 1), 9e-6, np.float32))
    found = differences(encoded=marked)[0]
    assert [one.split(":")[0] for one in found] == ["init", "step", "step", "step"]
    negative = (ROWS[0], np.full((2, 1), -0.0, np.float32))
    assert "must be [-0.0], as encode gives it, got [0.0]" in differences(encoded=negative)[0][0]


def test_of_large_arrays_the_places_that_differ_are_told():
    form = TwinForm((ArrayForm("board", "float32", (10, 10)),), ("go",), (), 1, 1)
    wanted, got = np.zeros((1, 100), np.float32), np.zeros((1, 100), np.float32)
    got[0, 12], got[0, 99] = 3, -0.0
    empty = np.zeros((1, 0), np.int32)
    (found,) = comparing.rows_differ(form, (empty, wanted), (empty, got))
    assert found[:2] == (0, "board")
    assert found[2].endswith("at [1, 2] must be 0.0, got 3.0, [9, 9] must be 0.0, got -0.0")


def test_numbers_that_an_array_cannot_hold_do_not_reach_the_decoder():
    found, rows = differences(encoded=(ROWS[0] + 256, ROWS[1]))
    assert found == []
    assert rows[0].tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no JSON state: ''"),
        ("{", "is no JSON state: '{'"),
        ("[" * 100_000, "is no JSON state: '[["),
        ("9" * 5000, "is no JSON state: '99"),
        ('{"count":2}', "differs at .count"),
    ],
    ids=["nothing", "broken", "deep", "long", "another"],
)
def test_whatever_a_decoder_tells_is_another_state_or_the_same(text, says):
    found = differences(decoded=(STATES[0], text))[0]
    assert len(found) == 1
    assert found[0].startswith(f"decode: decode(encode(state)) {says}")


def test_a_decoder_that_broke_off_is_blamed_for_what_it_met_alone():
    assert differences(decoded=("", ""), problems=[(0, "decode raised KeyError")])[0] == [
        "decode: decode raised KeyError"
    ]


@pytest.mark.parametrize(
    ("chance", "says"),
    [
        ([[0.250009, 0.75], [0, 0]], "'a' must have 0.25, got 0.250009"),
        ([[0.25, 0.75], [1e-9, 0]], "'a' must have 0, got 1e-09"),
        ([[0.25, np.nan], [0, 0]], "'b' must have 0.75, got nan"),
    ],
)
def test_probabilities_are_compared_by_their_own_size_and_what_cannot_happen_has_none(chance, says):
    (found,) = differences(Twin(chance=np.array(chance, np.float32)))[0]
    assert says in found
    assert differences(Twin(chance=np.array([[0.250001, 0.75], [0, 0]], np.float32)))[0] == []


def test_probabilities_that_do_not_sum_to_one_are_told(monkeypatch):
    half = np.array([[0.25, 0.25], [0, 0]], np.float32)
    monkeypatch.setitem(BATCH.fields, "chance", half)
    assert differences(Twin(chance=half))[0] == ["chance: the probabilities sum to 0.5 where chance is to move"]


def test_proved_is_what_was_compared_in_full_alone():
    whole = ProofResult(ProofState(transitions=10, games=2), 4, (), 10)
    assert whole.proved
    assert whole.in_words.startswith("proved: 10 transitions")
    assert not replace(whole, wanted=11).proved
    unfit = replace(whole, state=ProofState(transitions=10, unfit=3))
    assert not unfit.proved
    assert "3 observations do not fit the vectors" in unfit.in_words
    some = replace(whole, missed=(SimpleNamespace(),))
    assert some.proved
    assert some.in_words.startswith("proved but for 1 branches that no game met: ")
    assert json.dumps(whole.state.to_json())
