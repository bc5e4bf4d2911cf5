"""Steps of long games that a prompt shows: those with what no short way leads to, as a dish in Overcooked.

A step shows words, lists of words and signs of numbers at places of its observations, and what it pays. A greedy cover
takes the test that adds most for its length. Nothing here knows any game.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cwm.suite.types import UnitTest
from games.api import Json

Feature: TypeAlias = tuple[Any, ...]
"""What a test shows: a place in observations and what stands there, or what it pays."""

ROOM: Final = 11_000
"""Characters of all these tests together."""
PAYS: Final = 4
"""So many words does a step count for that pays as none before."""
MANY: Final = 8
"""Words at one place count as so many at most, all together."""


def telling(tests: Sequence[UnitTest], shown: Sequence[UnitTest], length: Callable[[UnitTest], int]) -> list[UnitTest]:
    """Returns tests that show what the others do not, as much as has room; none of games that are not long.

    Args:
        tests: of kind `step`.
        shown: those that are shown already.
        length: characters of one test.
    """
    left = {test.id: (test, frozenset(_features(test)), length(test)) for test in tests if test.data.get("brief")}
    worth = _worths(has for _, has, _ in left.values())
    known: set[Feature] = set()
    for test in shown:
        known |= left.pop(test.id, (test, frozenset(), 0))[1]
    chosen: list[UnitTest] = []
    room = ROOM
    while True:
        fits = [
            (sum(map(worth.__getitem__, has - known)) / size**0.5, test, has, size)
            for test, has, size in left.values()
            if size <= room
        ]
        best = max(fits, key=lambda one: one[0], default=None)
        if best is None or best[0] == 0.0:
            return chosen
        chosen.append(best[1])
        known |= best[2]
        room -= best[3]
        del left[best[1].id]


def _worths(tests: Iterable[frozenset[Feature]]) -> Mapping[Feature, float]:
    """Returns the weight of every feature: the more there are at a place, the less does each of them count."""
    found = frozenset[Feature]().union(*tests)
    places = Counter(place for place, *_ in found)
    return {one: float(PAYS) if one[0] == "pays" else min(1.0, MANY / places[one[0]]) for one in found}


def _features(test: UnitTest) -> Iterator[Feature]:
    for observation in test.data["observations"]:
        yield from _words(observation, ())
    if test.data["actions"] is not None:
        yield "pays", tuple(test.data["rewards"])
        yield "over", tuple(test.data["over"])


def _words(value: Json, place: tuple[str, ...]) -> Iterator[Feature]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _words(inner, (*place, key))
    elif isinstance(value, list) and not all(isinstance(one, str) for one in value):
        for inner in value:
            yield from _words(inner, place)
    elif isinstance(value, list):
        yield place, tuple(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield place, "number", (value > 0) - (value < 0)
    else:
        yield place, value
