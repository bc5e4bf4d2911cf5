"""Tests chosen for what they tell: as many different things as fit into so many characters.

Each test has features: which keys a move changes and how, what kind of move it is, who is next, whether it is the last
one, what an end pays, whether a move is forced, how much changes. A greedy cover takes the test that adds most for its
length, and a feature that was shown before counts half as much each time. Nothing here knows any game.
"""

import heapq
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from cwm.suite.types import UnitTest
from cwm.trajectories.varied import action_kind
from games.api import CHANCE, TERMINAL, Json

Features: TypeAlias = dict[Hashable, float]
"""What a test shows, with weights."""

MANY_KINDS = 12
"""With more kinds of action than this only the first word of each counts."""
MANY_WORDS = 12
"""A place of a state that holds more different values than this holds no words of a vocabulary."""
SLACK = 0.05
"""The chosen tests may be so much longer or shorter than asked for, as a share."""
_MUST = 30.0
"""Weight of what is shown before all else where there is room: every kind of action and every pattern of an end."""
_LENGTH_POWERS = (0.7, 1.0, 1.5, 2.0, 3.0)
"""Gain is divided by the length to this power: below 1, so that long chains have a chance beside small moves; a higher
one, which prefers short tests, where else too few would fill the room."""


def informative(tests: Sequence[UnitTest], characters: int, length: Callable[[UnitTest], int]) -> list[UnitTest]:
    """Returns tests that show as much as possible; no state twice. Deterministic.

    Args:
        tests: of transitions or of inference.
        characters: of all together, which is met within `SLACK` where the tests' lengths allow it.
        length: characters of one test.
    """
    features, lengths = _features(tests), {test.id: max(1, length(test)) for test in tests}
    covers = (_Cover(tests, features, lengths, power) for power in _LENGTH_POWERS)
    best: _Cover | None = None
    for cover in covers:
        cover.fill(characters)
        if best is None or abs(cover.characters - characters) < abs(best.characters - characters):
            best = cover
        if best.characters >= (1 - SLACK) * characters:
            break
    return [] if best is None else [tests[number] for number in sorted(best.chosen)]


class _Cover:
    """Tests that are chosen one after the other, by their numbers, and what they show together."""

    def __init__(
        self, tests: Sequence[UnitTest], features: Mapping[str, Features], lengths: Mapping[str, int], power: float
    ) -> None:
        self._features = [features[test.id] for test in tests]
        self._lengths = [lengths[test.id] for test in tests]
        self._states = [_state_of(test) for test in tests]
        self._power = power
        self._shown = Counter[Hashable]()
        self.chosen: set[int] = set()
        self.characters = 0

    def fill(self, characters: int) -> None:
        """Chooses tests until they are as long as this, or none fits any more."""
        # What a test adds only ever falls: one whose old worth is below another's new one need not be looked at again.
        queue = [(*self._rank(number), number) for number in range(len(self._lengths))]
        heapq.heapify(queue)
        states: set[str | None] = set()
        while queue and self.characters < characters:
            *_, number = heapq.heappop(queue)
            too_long = self.characters + self._lengths[number] > (1 + SLACK) * characters
            if too_long or self._states[number] in states:
                continue
            now = (*self._rank(number), number)
            if queue and now > queue[0]:
                heapq.heappush(queue, now)
                continue
            self.chosen.add(number)
            self.characters += self._lengths[number]
            self._shown.update(self._features[number].keys())
            states |= {self._states[number]} - {None}

    def _rank(self, number: int) -> tuple[float, int]:
        """Returns a key by which the test that adds most for its length comes first."""
        features = self._features[number].items()
        gain = sum(math.ldexp(weight, -self._shown[feature]) for feature, weight in features)
        return -gain / math.pow(self._lengths[number], self._power), self._lengths[number]


def _state_of(test: UnitTest) -> str | None:
    return json.dumps(test.data["state"], sort_keys=True) if test.kind == "transition" else None


def namer(moves: Iterable[UnitTest]) -> Callable[[str], str]:
    """Returns what names an action's kind: its words, or the first of them where there are many kinds."""
    kinds = {action_kind(test.data["action"]) for test in moves if test.data["action"] is not None}
    if len(kinds) <= MANY_KINDS:
        return action_kind
    return lambda action: action_kind(action).split(" ")[0]


def _features(tests: Sequence[UnitTest]) -> dict[str, Features]:
    """Returns the features of every test, by id."""
    moves = [test for test in tests if test.kind == "transition"]
    following = {(test.game, test.step): test for test in moves}
    words, kind_of = _words(moves), namer(moves)
    largest = max((len(list(_changes(test))) for test in moves), default=0)
    found: dict[str, Features] = {}
    for test in tests:
        if test.kind == "transition":
            found[test.id] = _of_move(test, following.get((test.game, test.step + 1)), words, largest, kind_of)
        else:
            found[test.id] = _of_inference(test)
    return found


def _of_move(
    test: UnitTest,
    after: UnitTest | None,
    words: Mapping[str, set[str]],
    largest: int,
    kind_of: Callable[[str], str],
) -> Features:
    data, player = test.data, test.data["player"]
    features: Features = {("stands", path, value): 0.5 for path, value in _standing(data["state"], words)}
    features |= {("at", place, json.dumps(value)): 0.1 for place, value in _places(data["state"])}
    features[("paid", tuple(data["rewards"]))] = 1.0
    if player == TERMINAL:
        signs = tuple((reward > 0) - (reward < 0) for reward in data["rewards"])
        features[("end", signs)] = _MUST
        return features
    legal = data["legal_actions"]
    if player != CHANCE:
        features[("choices", player, math.floor(math.log2(max(1, len(legal)))))] = 1.0
        features[("may", frozenset(map(kind_of, legal)))] = 2.0
        if len(legal) == 1:
            features[("forced", kind_of(legal[0]))] = 2.0
    if data["action"] is None:
        return features
    changes = list(_changes(test))
    kind = (player == CHANCE, kind_of(data["action"]))
    features[("action", kind)] = _MUST
    features[("changes", kind, frozenset(path for path, _, _ in changes))] = 3.0
    features |= {("change", path, _how(before, now, path, words)): 1.0 for path, before, now in changes}
    features[("size", kind, math.floor(math.log2(1 + len(changes))))] = 1.0
    if len(changes) == largest:
        features[("largest",)] = 2.0
    if after is not None:
        next_player = after.data["player"]
        features[("next", kind, next_player)] = 2.0
        if next_player == TERMINAL:
            features[("last move", kind)] = 2.0
    return features


def _of_inference(test: UnitTest) -> Features:
    data, player = test.data, test.data["player"]
    history = data["history"]
    features: Features = {
        ("infers", player): 3.0,
        **{("length", player, power): 2.0 for power in range(1 + math.floor(math.log2(len(history))))},
        ("several", data.get("several")): 1.0,
        ("paid in all", data.get("return")): 1.0,
    }
    features |= {("did", player, action_kind(action).split(" ")[0]): 1.0 for _, action in history if action is not None}
    features |= {("saw", path): 0.5 for path, _ in _leaves(history[-1][0])}
    return features


def _words(moves: Iterable[UnitTest]) -> dict[str, set[str]]:
    """Returns the values of every place of the states that holds only a few, as JSON."""
    found: dict[str, set[str]] = defaultdict(set)
    for test in moves:
        for path, value in _leaves(test.data["state"]):
            if len(found[path]) <= MANY_WORDS:
                found[path].add(json.dumps(value))
    return {path: values for path, values in found.items() if len(values) <= MANY_WORDS}


def _standing(state: Json, words: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    return ((path, json.dumps(value)) for path, value in _leaves(state) if path in words)


def _how(before: Any, now: Any, path: str, words: Mapping[str, set[str]]) -> Hashable:
    if isinstance(before, int | float) and isinstance(now, int | float) and not isinstance(now, bool):
        return "more" if now > before else "less"
    return (_class(before, path, words), _class(now, path, words))


def _class(value: Any, path: str, words: Mapping[str, set[str]]) -> str:
    return json.dumps(value) if path in words or value is None or isinstance(value, bool) else type(value).__name__


def _leaves(value: Json, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every value that holds no others, with its place; places in a list are not told apart."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, f"{path}[]")
        if not value:
            yield f"{path}[]", None
    else:
        yield path, value


def _places(value: Json, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every value that holds no others, with its place; places in a list are told apart."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield place, value
        return
    for key, item in items:
        yield from _places(item, f"{place}.{key}")


def _changes(test: UnitTest) -> Iterator[tuple[str, Any, Any]]:
    """Yields what a move changes: place, what stood there, what stands there now."""
    if test.data["action"] is not None:
        yield from _differences(test.data["state"], test.data["next_state"], "")


def _differences(before: Json, now: Json, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*before, *now)):
            yield from _differences(before.get(key), now.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield f"{path} length", len(before), len(now)
        for old, new in zip(before, now, strict=False):
            yield from _differences(old, new, f"{path}[]")
    elif before != now or type(before) is not type(now):
        yield path, _alone(before), _alone(now)


def _alone(value: Json) -> Any:
    return "" if isinstance(value, dict | list) else value
