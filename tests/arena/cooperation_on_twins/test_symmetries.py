"""Symmetries that are read off names and confirmed by games."""

import numpy as np
import pytest

from arena.cooperation_on_twins import symmetries
from cwm.twins.form import TwinForm
from cwm.twins.traced import TwinProblemError

COUNT = -1


class Vote:
    """Chance names a colour, then a player one of its cells; both are named in the same way, and pay what they say.

    It is what answers in the place of a compiled twin: states are rows of (turn, colour, cell).
    """

    form = TwinForm(
        (),
        ("take 0,0", "take 0,1", "take 1,0", "take 1,1"),
        ("deal red-green", "deal blue-green", "deal red-blue"),
        1,
        0,
    )

    def __init__(self, pays):
        self._pays = np.array(pays, np.float32)

    def init(self):
        return np.array([[COUNT, 0, 0]], np.int32), np.zeros((1, 0), np.float32)

    def step(self, rows, index):
        whole = rows[0].copy()
        whole[:, 1] = np.where(whole[:, 0] == COUNT, index, whole[:, 1])
        whole[:, 2] = np.where(whole[:, 0] == 0, index, whole[:, 2])
        whole[:, 0] = np.where(whole[:, 0] == COUNT, 0, -4)
        return whole, rows[1]

    def look(self, rows):
        turn, colour, cell = rows[0].T
        paid = np.where(turn == -4, self._pays[colour, cell], 0)
        return {
            "player": turn,
            "legal": np.repeat((turn == 0)[:, None], 4, axis=1),
            "chance": (turn == COUNT)[:, None] * np.full((1, 3), 1 / 3, np.float32),
            "rewards": paid[:, None],
        }


@pytest.mark.parametrize(
    ("pays", "titles", "count"),
    [
        # Nothing tells colours or cells apart: 6 orders of colours, 8 turns of a square.
        (np.zeros((3, 4)), 4, 48),
        # The upper row pays: columns may be mirrored, rows not; red-green pays more than the two others.
        ([[5, 5, 1, 1], [2, 2, 0, 0], [2, 2, 0, 0]], 2, 4),
        (np.arange(12).reshape(3, 4), 0, 1),
    ],
)
def test_renamings_are_kept_that_leave_games_what_they_are(pays, titles, count):
    found = symmetries.find(Vote.form, Vote(pays), 0, lambda done, of: None)
    assert (len(found.titles), len(found)) == (titles, count)
    actions, outcomes = found.renaming
    assert actions[0].tolist() == [0, 1, 2, 3]
    assert len({(*one, *other) for one, other in zip(actions.tolist(), outcomes.tolist(), strict=True)}) == count
    table = np.array(pays)
    for one, other in zip(actions, outcomes, strict=True):
        assert (table[other][:, one] == table).all()


@pytest.mark.parametrize(
    ("name", "shape"), [("player", (1,)), ("legal", (256, 3)), ("chance", (256, 2)), ("rewards", (256,))]
)
def test_answers_of_another_form_are_refused(name, shape):
    class Forging(Vote):
        def look(self, rows):
            return super().look(rows) | {name: np.zeros(shape, np.float32)}

    with pytest.raises(TwinProblemError, match="did not answer in the form"):
        symmetries.find(Vote.form, Forging(np.zeros((3, 4))), 0, lambda done, of: None)


def test_numbers_beside_cells_may_turn_along_with_them():
    names = (*(f"look {card}" for card in range(4)), "go 0,0", "go 0,1", "go 1,0", "go 1,1")
    found = {item.title: item.actions.tolist() for item in symmetries.candidates(TwinForm((), names, (), 1, 0))}
    assert found["rows are mirrored"] == [0, 1, 2, 3, 6, 7, 4, 5]
    assert found["rows are mirrored, numbers below 4 are turned along"] == [2, 3, 0, 1, 6, 7, 4, 5]
    assert found["rows are mirrored, numbers below 4 are mirrored"] == [3, 2, 1, 0, 6, 7, 4, 5]
    assert "look and go change places" not in found
