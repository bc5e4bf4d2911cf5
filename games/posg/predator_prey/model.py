"""Predators and prey as a `PosgModel`; `RULES.md` is the specification.

Rules: POSGGym 0.6.0 (Schwartz et al. 2025): the variant `as-published` is what its code does, `documented` what its
documentation says.
"""

import random
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, get_args

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.chance import enumerating, uniform_over

Hunt: TypeAlias = tuple[int, int, int, int, int, int, int]
"""Cells of both predators, cells of the three prey, which prey are caught (bits), which were before the last step."""
Prey: TypeAlias = tuple[int, ...]
Pick: TypeAlias = Callable[[str, Sequence[int]], int]
"""Draws one of some cells, all equally likely, given a label."""
Variant: TypeAlias = Literal["as-published", "documented"]

ACTIONS: Final = ("stay", "up", "down", "left", "right")
SIZE: Final = 10
SIGHT: Final = 2
ACROSS: Final = 2 * SIGHT + 1
STRENGTH: Final = 2
"""So many predators catch a prey; a prey flees to no cell with fewer free neighbours."""
PREY: Final = 3
ALL: Final = 7
CORNERS: Final = (0, 50, 90, 5, 95, 9, 59, 99)
"""Where predators may start: column by column."""
CENTRE: Final = (45, 54, 55, 56, 65)
"""Where prey may start."""

EMPTY: Final = "."
WALL: Final = "#"
PREDATOR: Final = "P"
QUARRY: Final = "p"

_STEPS: Final = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))
_CELLS: Final = range(SIZE * SIZE)
_NUMBER: Final = {action: number for number, action in enumerate(ACTIONS)}
_NOTHING: Final = (0.0, 0.0)
_ON: Final = (False, False)
_ALL_OVER: Final = (True, True)


def beside(cell: int, action: int) -> int:
    """Returns the cell to which an action leads, the own one at the border."""
    (row, column), (right, down) = divmod(cell, SIZE), _STEPS[action]
    inside = 0 <= column + right < SIZE and 0 <= row + down < SIZE
    return cell + SIZE * down + right if inside else cell


NEXT: Final = [[beside(cell, action) for cell in _CELLS] for action in range(5)]
AROUND: Final = [[beside(cell, action) for action in (1, 4, 2, 3) if beside(cell, action) != cell] for cell in _CELLS]
"""By cell: its neighbours up, right, down, left."""
FAR: Final = [[abs(a // SIZE - b // SIZE) + abs(a % SIZE - b % SIZE) for b in _CELLS] for a in _CELLS]
VIEW: Final = [
    [
        (row * SIZE + column) if 0 <= row < SIZE and 0 <= column < SIZE else -1
        for row in range(cell // SIZE - SIGHT, cell // SIZE + SIGHT + 1)
        for column in range(cell % SIZE - SIGHT, cell % SIZE + SIGHT + 1)
    ]
    for cell in _CELLS
]
"""By cell: the cells of its view row by row, -1 beyond the border."""


class PredatorPrey:
    """State: a `Hunt`. Observation: the signs of the view row by row, as a string."""

    def __init__(self, variant: Variant = "as-published", steps: int = 50) -> None:
        """Makes the game.

        Args:
            variant: `as-published` or `documented`.
            steps: after which it is broken off.

        Raises:
            PosgError: there is no such variant.
        """
        if variant not in get_args(Variant):
            raise PosgError(f"predator-prey has the variants {', '.join(get_args(Variant))}; not {variant!r}.")
        self.info = PosgInfo(
            id="predator-prey",
            agent_names=("predator_0", "predator_1"),
            utility="identical",
            actions=(ACTIONS, ACTIONS),
            min_step=0.0,
            max_step=1.0,
            min_utility=0.0,
            max_utility=1.0,
            step_limit=steps,
            symmetric=True,
        )
        self.is_published: Final = variant == "as-published"
        self._ways: dict[int, list[int]] = {}
        self._views: dict[tuple[int, ...], str] = {}
        self._fled: dict[Hunt, list[tuple[float, Prey]]] = {}
        self.near: Final = [[self._is_near(a, b) for b in _CELLS] for a in _CELLS]
        """By cell and cell: whether a prey in the first flees from what is in the second."""

    def _is_near(self, cell: int, other: int) -> bool:
        across, along = abs(cell % SIZE - other % SIZE), abs(cell // SIZE - other // SIZE)
        return (min if self.is_published else max)(across, along) <= SIGHT

    def initial_state(self, choose: Choose) -> Hunt:
        return self._started({}, choose)

    def initial_state_given(self, agent: int, observation: str, choose: Choose) -> Hunt:
        """Returns a start in which `agent` is told an observation: it shows where it is, and nobody else."""
        found = [cell for cell in CORNERS if observation == self._seen(cell, cell, ())]
        if len(found) != 1:
            if observation in {self._seen(cell, cell, ()) for cell in CORNERS}:
                mine = _cell(choose("own start", uniform_over([_place(cell) for cell in found])))
                return self._started({agent: mine}, choose)
            raise PosgError(f"no start of predator-prey shows predator {agent} {observation!r}.")
        return self._started({agent: found[0]}, choose)

    def _started(self, given: dict[int, int], choose: Choose) -> Hunt:
        predators: list[int] = []
        for agent in range(2):
            taken = {*given.values(), *predators}
            free = [_place(cell) for cell in CORNERS if cell not in taken]
            predators.append(
                given[agent] if agent in given else _cell(choose(f"start of predator {agent}", uniform_over(free)))
            )
        prey: list[int] = []
        for number in range(PREY):
            free = [_place(cell) for cell in CENTRE if cell not in prey]
            prey.append(_cell(choose(f"start of prey {number}", uniform_over(free))))
        return predators[0], predators[1], prey[0], prey[1], prey[2], 0, 0

    def active(self, state: Hunt) -> Sequence[int]:
        return () if state[5] == ALL else (0, 1)

    def legal_actions(self, state: Hunt, agent: int) -> Sequence[str]:
        return () if state[5] == ALL else ACTIONS

    def move(self, state: Hunt, actions: Joint, choose: Choose) -> Moved:
        def pick(label: str, cells: Sequence[int]) -> int:
            return _cell(choose(label, uniform_over([_place(cell) for cell in cells])))

        return _ended(state, self._flee(state, pick), _NUMBER[actions[0]], _NUMBER[actions[1]])

    def sample_step(self, state: Hunt, actions: Joint, rng: random.Random) -> Moved:
        """As `move`, faster."""
        return _ended(state, self._flee(state, _drawn(rng)), _NUMBER[actions[0]], _NUMBER[actions[1]])

    def sample_step_given(
        self, state: Hunt, actions: Joint, agent: int, observation: str, rng: random.Random
    ) -> tuple[Moved, float] | None:
        """Returns a step drawn from its exact probability given what `agent` is told, and the likelihood of that."""
        one, two = _NUMBER[actions[0]], _NUMBER[actions[1]]
        found = []
        for probability, prey in self._flights(state):
            moved = _ended(state, prey, one, two)
            if self._told(moved[0])[agent] == observation:
                found.append((probability, moved))
        if not found:
            return None
        weights = [probability for probability, _ in found]
        return rng.choices(found, weights)[0][1], sum(weights)

    def _flights(self, state: Hunt) -> list[tuple[float, Prey]]:
        """Returns where the prey may be next, with probabilities."""
        known = self._fled.get(state)
        if known is None:
            merged: dict[Prey, float] = {}

            def run(choose: Choose) -> Prey:
                return self._flee(state, lambda label, cells: int(choose(label, uniform_over(cells))))

            for branch, prey in enumerating(run):
                merged[prey] = merged.get(prey, 0.0) + branch.probability
            if len(self._fled) > 100_000:
                self._fled.clear()
            known = self._fled[state] = [(probability, prey) for prey, probability in merged.items()]
        return known

    def _flee(self, state: Hunt, pick: Pick) -> Prey:
        """Returns where the prey are next: first those move that a predator is near, then those near other prey."""
        predators, prey, caught = state[:2], state[2:5], state[5]
        after = [cell if caught >> number & 1 else -1 for number, cell in enumerate(prey)]
        occupied = {*predators, *(cell for number, cell in enumerate(prey) if not caught >> number & 1)}
        for number, cell in enumerate(prey):
            if after[number] < 0:
                threat = self._closest(cell, predators, f"predator that prey {number} flees", pick)
                after[number] = self._away(cell, threat, occupied)
        if caught.bit_count() < PREY - 1:
            for number, cell in enumerate(prey):
                if after[number] < 0:
                    others = [one for other, one in enumerate(prey) if one != cell and not caught >> other & 1]
                    threat = self._closest(cell, others, f"prey that prey {number} avoids", pick)
                    after[number] = self._away(cell, threat, occupied)
        for number, cell in enumerate(prey):
            if after[number] < 0:
                after[number] = pick(f"prey {number}", AROUND[cell])
        return tuple(after)

    def _closest(self, cell: int, others: Sequence[int], label: str, pick: Pick) -> int:
        """Returns the closest of some cells, one drawn of several, or -1 if it is not near."""
        far = FAR[cell]
        least = min([far[other] for other in others])
        closest = [other for other in others if far[other] == least]
        near = self.near[cell]
        if len(closest) > 1 and any(near[other] for other in closest):
            chosen = pick(label, sorted(closest))
        else:
            chosen = closest[0]
        return chosen if near[chosen] else -1

    def _away(self, cell: int, threat: int, occupied: set[int]) -> int:
        """Returns where a prey flees to, -1 if nothing threatens it, and keeps `occupied` up to date."""
        if threat < 0:
            return -1
        key = cell * 100 + threat
        ways = self._ways.get(key)
        if ways is None:
            ways = self._ways[key] = ways_from(cell, threat)
        for way in ways:
            if way == cell:
                return cell
            if way not in occupied and self._free(way, occupied) >= STRENGTH:
                occupied.remove(cell)
                occupied.add(way)
                return way
        raise AssertionError("the own cell is one of the ways")

    def _free(self, cell: int, occupied: set[int]) -> int:
        """Returns how many neighbours of a cell are free; as published, one after an occupied one is not looked at."""
        around = AROUND[cell]
        if not self.is_published:
            return sum(one not in occupied for one in around)
        count, skips = 0, False
        for one in around:
            taken = not skips and one in occupied
            count += not taken
            skips = taken
        return count

    def observe(self, state: Hunt, actions: Joint | None, choose: Choose) -> Sequence[str]:
        return self._told(state)

    def sample_observations(self, state: Hunt, actions: Joint | None, rng: random.Random) -> Sequence[str]:
        """As `observe`: observations have no chance."""
        return self._told(state)

    def _told(self, state: Hunt) -> Sequence[str]:
        first, second, *prey, _, gone = state
        shown = [cell for number, cell in enumerate(prey) if not gone >> number & 1]
        return (self._seen(first, second, shown), self._seen(second, first, shown))

    def _seen(self, own: int, other: int, prey: Sequence[int]) -> str:
        row, column = divmod(own, SIZE)
        near = [
            cell if abs(cell // SIZE - row) <= SIGHT and abs(cell % SIZE - column) <= SIGHT else -1
            for cell in (other, *prey)
        ]
        key = (own, *near)
        told = self._views.get(key)
        if told is None:
            predators = {own, near[0]}
            told = "".join(
                WALL if cell < 0 else PREDATOR if cell in predators else QUARRY if cell in near[1:] else EMPTY
                for cell in VIEW[own]
            )
            if len(self._views) > 500_000:
                self._views.clear()
            self._views[key] = told
        return told

    def rollout(self, state: Hunt, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        """Returns the discounted return, while both predators walk at random."""
        uniform, total, scale, pick = rng.random, 0.0, 1.0, _drawn(rng)
        for _ in range(limit):
            if state[5] == ALL:
                break
            both = int(uniform() * 25.0)
            state, paid, _ = _ended(state, self._flee(state, pick), both // 5, both % 5)
            total += scale * paid[0]
            scale *= discount
        return total

    def state_to_json(self, state: Hunt) -> Json:
        first, second, *prey, caught, gone = state
        return {
            "predators": [_place(first), _place(second)],
            "prey": [
                {"cell": _place(cell), "caught": bool(caught >> number & 1), "gone": bool(gone >> number & 1)}
                for number, cell in enumerate(prey)
            ],
        }

    def state_from_json(self, described: Json) -> Hunt:
        first, second = map(_cell, described["predators"])
        prey = described["prey"]
        one, two, three = (_cell(each["cell"]) for each in prey)
        caught, gone = (sum(each[kind] << number for number, each in enumerate(prey)) for kind in ("caught", "gone"))
        return first, second, one, two, three, caught, gone

    def observation_to_json(self, agent: int, observation: str) -> Json:
        return [observation[start : start + ACROSS] for start in range(0, len(observation), ACROSS)]

    def observation_from_json(self, agent: int, described: Json) -> str:
        """Returns an observation as the model has it."""
        return "".join(described)

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the bounds of four signs a cell."""
        return (0.0,) * (4 * ACROSS * ACROSS), (1.0,) * (4 * ACROSS * ACROSS)

    def encode(self, agent: int, observation: str) -> Sequence[float]:
        return [float(sign == kind) for sign in observation for kind in ".#Pp"]

    def render(self, state: Hunt, agent: int | None = None) -> str:
        if agent is not None:
            return "\n".join(self.observation_to_json(agent, self._told(state)[agent]))
        first, second, *prey, _, gone = state
        signs = {cell: QUARRY for number, cell in enumerate(prey) if not gone >> number & 1} | {first: "0", second: "1"}
        shown = "".join(signs.get(cell, EMPTY) for cell in _CELLS)
        return "\n".join(shown[start : start + SIZE] for start in range(0, len(shown), SIZE))


def ways_from(cell: int, threat: int) -> list[int]:
    """Returns the cells that a prey thinks of when it flees, best first; it stays if none before its own will do."""
    return sorted((*AROUND[cell], cell), key=lambda one: (FAR[one][threat], one % SIZE, one // SIZE), reverse=True)


def _drawn(rng: random.Random) -> Pick:
    uniform = rng.random
    return lambda _, cells: cells[int(uniform() * len(cells))]


def _ended(state: Hunt, prey: Prey, action: int, action_1: int) -> Moved:
    """Moves the predators once the prey have moved, and returns the step."""
    first, second, _, _, _, caught, _ = state
    free = [cell for number, cell in enumerate(prey) if not caught >> number & 1]
    there, there_1 = NEXT[action][first], NEXT[action_1][second]
    if there in free:
        there = first
    if there_1 in free:
        there_1 = second
    if there == there_1:
        there, there_1 = first, second
    near, near_1 = FAR[there], FAR[there_1]
    now = caught
    for number, cell in enumerate(prey):
        if near[cell] <= 1 and near_1[cell] <= 1:
            now |= 1 << number
    after = (there, there_1, *prey, now, caught)
    if now == caught:
        return after, _NOTHING, _ON
    paid = (now ^ caught).bit_count() / PREY
    return after, (paid, paid), _ALL_OVER if now == ALL else _ON


def _place(cell: int) -> list[int]:
    return [cell % SIZE, cell // SIZE]


def _cell(place: Json) -> int:
    column, row = place
    return int(row) * SIZE + int(column)
