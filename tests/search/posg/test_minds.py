"""What is remembered of the other agents' minds takes no more memory where observations are large."""

from typing import Any

from search.posg.others import Minds, Uniform
from search.posg.steps import Shown, room

LEGAL = ("left", "right")
LARGE = {"view": ["####"] * 8, "self": {"cell": [1, 2], "item": []}}


def test_room_goes_by_the_values_that_an_observation_holds() -> None:
    assert [room(seen) for seen in (3, "left", (1, 2), None)] == [1, 1, 1, 1]
    assert room(Shown([])) == 1
    assert room(Shown([1, 2, 3])) == 3
    # A dictionary of a list of 8 words and of a dictionary of two lists, one of two numbers.
    assert room(Shown(LARGE)) == 1 + (1 + 9 + 1 + 3 + 1) // 2


def walked(minds: Minds, steps: int, observation: Any) -> int:
    """Returns how many minds are found again along a path."""
    mind = minds.first(Shown(observation | {"step": 0}), LEGAL)
    kept = 0
    for step in range(1, steps):
        seen = Shown(observation | {"step": step})
        later = minds.after(mind, "left", seen, LEGAL)
        kept += mind.after.get(("left", seen)) is later
        mind = later
    return kept


class Unhashable(Uniform):
    def update(self, memory: Any, action: Any, observation: Any) -> Any:
        return []


def test_fewer_minds_are_kept_of_large_observations_and_all_are_let_go_together() -> None:
    small, large = Minds("small", Unhashable(), 0, most=90), Minds("large", Unhashable(), 0, most=90)
    assert walked(small, 40, {}) == 39
    assert walked(large, 40, LARGE) == 8  # each takes the room of ten, as the first does
    large.forget()
    assert walked(large, 5, LARGE) == 4
