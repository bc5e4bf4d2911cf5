"""Foraging with food and foragers in places that are always the same, where what is hidden can be worked out."""

import random
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeAlias

from games.api import Action, Json
from games.posg.api import Choose, PosgError, PosgHistory
from games.posg.chance import uniform_over
from games.posg.foraging.field import (
    ACTIONS,
    LEVELS,
    LOAD,
    NEAR,
    PLACES,
    STARTS,
    UNSEEN,
    VIEW,
    Field,
    Foods,
    Foraging,
    Sight,
    step,
)

MINDS: Final = (500, 8_000)
"""So many different ways in which things may have gone are kept from step to step; more, where none of them fits."""

MOST_KEPT: Final = 500
"""Histories whose ways are remembered."""

Bounds: TypeAlias = dict[int, tuple[int, int]]
"""By cell of food: least and greatest level that it may have; those between are as likely."""


class _Way(NamedTuple):
    """How things may have gone.

    Attributes:
        weight: relative to the others.
        state: of the game, where food has the least level that it may have.
        bounds: what is known of the levels of all food, also of that which is gone.
        history: what the other agent did, last first, as nested triples of state before, action, and the rest.
    """

    weight: float
    state: Field
    bounds: Bounds
    history: "tuple[Field, Action, Any] | None"


class ForagingInPlaces(Foraging):
    """State: a `Field`. Observation: a `Sight`. Food lies in eight places, foragers begin in two corners."""

    def __init__(self, steps: int = 50) -> None:
        """Args:
        steps: after which the game is broken off.
        """
        super().__init__(steps, "foraging")
        self._ways: dict[tuple[object, ...], list[_Way]] = {}
        self._last: tuple[PosgHistory, int, list[_Way], list[float]] = ((), -1, [], [])
        """What was asked for last: a planner asks for many draws of one history."""

    def _start(self, agent: int, taken: Sequence[int], choose: Choose) -> int:
        return STARTS[agent]

    def _food(self, cells: Sequence[int], most: int, choose: Choose) -> Foods:
        levels = uniform_over(range(1, most + 1))
        return tuple(
            value
            for number, cell in enumerate(PLACES)
            for value in (cell, int(choose(f"level of food {number}", levels)))
        )

    def initial_state_given(self, agent: int, observation: Sight, choose: Choose) -> Field:
        """Returns a start in which `agent` has the level that it is told; it is told nothing else."""
        level = observation[0]
        probe: Field = (STARTS[0], level, STARTS[1], level, 1, ())
        if not 1 <= level <= LEVELS or observation[1:] != self._told(probe)[agent][1:]:
            raise PosgError(f"no start of foraging shows agent {agent} {observation!r}.")

        def given(label: str, outcomes: Sequence[tuple[Json, float]]) -> Json:
            return level if label == f"level of agent {agent}" else choose(label, outcomes)

        return self.initial_state(given)

    def resample(
        self, history: PosgHistory, agent: int, rng: random.Random
    ) -> tuple[Field, Sequence[PosgHistory | None]]:
        """Returns a present state and the other's history that `agent` cannot tell from the true ones.

        The present state is drawn from a filter that is exact but for thinning to `MINDS` ways; what the other did on
        the way there is a likely past of it.
        """
        if not isinstance(history, tuple) or self._last[0] is not history or self._last[1] != agent:
            found = self.ways(history, agent)
            self._last = (history, agent, found, list(accumulate(one.weight for one in found)))
        _, _, found, sums = self._last
        way = rng.choices(found, cum_weights=sums)[0]
        levels = {cell: rng.randint(*bounds) for cell, bounds in way.bounds.items()}
        histories: list[PosgHistory | None] = [None, None]
        histories[1 - agent] = self._private(way, levels, 1 - agent)
        return _with_levels(way.state, levels), histories

    def hidden_parts_of(self, state: Field) -> list[str]:
        """Returns the level of each forager, and that of the food in each place, `gone` where there is none."""
        levels = dict(zip(state[5][::2], state[5][1::2], strict=True))
        return [str(state[1]), str(state[3]), *(str(levels.get(cell, "gone")) for cell in PLACES)]

    def ways(self, history: PosgHistory, agent: int) -> list[_Way]:
        """Returns how things may have gone, given what an agent saw and did; weights are relative.

        Raises:
            PosgError: nothing explains the history.
        """
        for most in MINDS:
            ways = self._followed(history, agent, most)
            if ways:
                return ways
        raise PosgError(f"nothing explains what agent {agent} saw and did in {len(history)} observations.")

    def _followed(self, history: PosgHistory, agent: int, most: int) -> list[_Way]:
        key: tuple[object, ...] = (agent, most)
        ways: list[_Way] = []
        action: Action | None = None
        for number, (told, acted) in enumerate(history):
            key = (*key, action, told)
            known = self._ways.get(key)
            if known is None:
                known = self._later(ways, action, told, agent) if number else self._first(told, agent)
                known = _thinned(_merged(known), most, random.Random(repr(key)))
                if len(self._ways) > MOST_KEPT:
                    self._ways.clear()
                self._ways[key] = known
            ways, action = known, acted
        return ways

    def _first(self, told: Sight, agent: int) -> list[_Way]:
        ways = []
        for other in range(1, LEVELS + 1):
            levels = (told[0], other) if agent == 0 else (other, told[0])
            food = tuple(value for cell in PLACES for value in (cell, 1))
            state: Field = (STARTS[0], levels[0], STARTS[1], levels[1], 1, food)
            bounds = dict.fromkeys(PLACES, (1, sum(levels)))
            ways += self._fitting(_Way(1.0, state, bounds, None), told, agent)
        return ways

    def _later(self, ways: Sequence[_Way], action: Action | None, told: Sight, agent: int) -> list[_Way]:
        own, found = ACTIONS.index(action or "stay"), []
        for way in ways:
            if not way.state[5]:
                continue
            for other in range(6):
                for chance, state, bounds in _decided(way, own, other, agent):
                    after = step(state, own, other)[0] if agent == 0 else step(state, other, own)[0]
                    history = (state, ACTIONS[other], way.history)
                    found += self._fitting(_Way(way.weight * chance / 6.0, after, bounds, history), told, agent)
        return found

    def _fitting(self, way: _Way, told: Sight, agent: int) -> list[_Way]:
        """Returns the way with what it shows the agent filled in, nothing if it cannot show what the agent was told."""
        cell, level, cell_1, level_1, _, food = way.state
        own, other = ((cell, level), (cell_1, level_1)) if agent == 0 else ((cell_1, level_1), (cell, level))
        view = VIEW[own[0]]
        place = view.get(other[0], UNSEEN)
        if told[:3] != (own[1], place, other[1] if place >= 0 else 0):
            return []
        shown = [one for one in food[::2] if one in view]
        if list(told[3::2]) != [view[one] for one in shown]:
            return []
        weight, bounds = way.weight, dict(way.bounds)
        for one, known in zip(shown, told[4::2], strict=True):
            least, most = bounds[one]
            if not least <= known <= most:
                return []
            weight /= most - least + 1
            bounds[one] = (known, known)
        return [way._replace(weight=weight, state=_with_levels(way.state, _least(bounds)), bounds=bounds)]

    def _private(self, way: _Way, levels: dict[int, int], other: int) -> PosgHistory:
        """Returns what the other agent saw and did, once all levels are known."""
        private: list[tuple[Sight, Action | None]] = [(_sight(way.state, levels, other), None)]
        passed = way.history
        while passed is not None:
            before, action, passed = passed
            private.append((_sight(before, levels, other), action))
        return private[::-1]


def _decided(way: _Way, own: int, other: int, agent: int) -> list[tuple[float, Field, Bounds]]:
    """Returns the ways in which the other can or cannot lift food of unknown level, each with its probability."""
    ways = [(1.0, way.state, way.bounds)]
    if other != LOAD:
        return ways
    cell, level, cell_1, level_1, _, food = way.state
    mine, theirs, strength = (cell, cell_1, level_1) if agent == 0 else (cell_1, cell, level)
    for one in food[::2]:
        if one not in NEAR[theirs] or (own == LOAD and one in NEAR[mine]):  # two can lift anything
            continue
        split = []
        for chance, state, bounds in ways:
            least, most = bounds[one]
            for low, high in ((least, min(most, strength)), (max(least, strength + 1), most)):
                if low <= high:
                    share = (high - low + 1) / (most - least + 1)
                    split.append((chance * share, _with_levels(state, {one: low}), bounds | {one: (low, high)}))
        ways = split
    return ways


def _sight(state: Field, levels: Mapping[int, int], agent: int) -> Sight:
    """Returns what an agent is told in a state, if all food has these levels."""
    cell, level, cell_1, level_1, _, food = state
    own, strength, other, theirs = (cell, level, cell_1, level_1) if agent == 0 else (cell_1, level_1, cell, level)
    view = VIEW[own]
    place = view.get(other, UNSEEN)
    seen = [value for one in food[::2] if one in view for value in (view[one], levels[one])]
    return (strength, place, theirs if place >= 0 else 0, *seen)


def _least(bounds: Bounds) -> dict[int, int]:
    return {cell: least for cell, (least, _) in bounds.items()}


def _merged(ways: Sequence[_Way]) -> list[_Way]:
    """Returns the ways with those that lead to the same put together; the likelier past is kept."""
    found: dict[tuple[object, ...], _Way] = {}
    for way in ways:
        key = (way.state, *way.bounds.values())
        known = found.get(key)
        if known is not None:
            way = max(known, way, key=lambda one: one.weight)._replace(weight=known.weight + way.weight)
        found[key] = way
    return list(found.values())


def _thinned(ways: list[_Way], most: int, rng: random.Random) -> list[_Way]:
    """Returns at most so many ways, drawn by systematic sampling where there are more."""
    if len(ways) <= most:
        return ways
    total = sum(way.weight for way in ways)
    kept, reached, mark = [], 0.0, rng.random()
    for way in ways:
        reached += way.weight / total * most
        if mark < reached:
            count = int(reached - mark) + 1
            kept.append(way._replace(weight=float(count)))
            mark += count
    return kept


def _with_levels(state: Field, levels: Mapping[int, int]) -> Field:
    """Returns a state in which food has other levels; where all are given, with the total that goes with them."""
    cell, level, cell_1, level_1, total, food = state
    new = tuple(
        value
        for number in range(0, len(food), 2)
        for value in (food[number], levels.get(food[number], food[number + 1]))
    )
    if len(levels) == len(PLACES):
        total = sum(levels.values())
    return cell, level, cell_1, level_1, total, new
