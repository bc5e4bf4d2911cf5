"""Level-based foraging as a `PosgModel`; `RULES.md` is the specification.

Rules: Albrecht and Ramamoorthy, "A game-theoretic model and best-response learning method for ad hoc coordination"
(2013), as POSGGym 0.6.0 has them (Schwartz et al. 2025; MIT, see NOTICE for its fixed places).
"""

import random
from collections.abc import Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgInfo
from games.posg.chance import uniform_over

Foods: TypeAlias = tuple[int, ...]
"""Cell and level of each food that is left, in the order in which they were placed."""
Field: TypeAlias = tuple[int, int, int, int, int, Foods]
"""Cell and level of agent 0, cell and level of agent 1, sum of the levels of all food at the start, food."""
Sight: TypeAlias = tuple[int, ...]
"""Own level; the other's place and level, (-1, 0) if unseen; then place and level of each food in view.

A place counts the cells of the view row by row, the own one in the middle."""

ACTIONS: Final = ("stay", "north", "south", "west", "east", "load")
SIZE: Final = 10
LEVELS: Final = 3
SIGHT: Final = 2
ACROSS: Final = 2 * SIGHT + 1
MIDDLE: Final = ACROSS * ACROSS // 2
FOODS: Final = 8
UNSEEN: Final = -1
LOAD: Final = 5

STARTS: Final = (0, 99)
PLACES: Final = (73, 15, 53, 35, 33, 55, 13, 75)
"""Cells of the food where places are fixed, 10 × row + column."""

_STEPS: Final = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))
_CELLS: Final = range(SIZE * SIZE)
_NUMBER: Final = {action: number for number, action in enumerate(ACTIONS)}
_PLAIN: Final = (0.0, 0.0)
_ON: Final = (False, False)


def beside(cell: int, action: int) -> int:
    """Returns the cell to which an action leads on an empty field; the own one at the border."""
    if action == LOAD:
        return cell
    row, column = divmod(cell, SIZE)
    right, down = _STEPS[action]
    inside = 0 <= column + right < SIZE and 0 <= row + down < SIZE
    return cell + SIZE * down + right if inside else cell


NEXT: Final = [[beside(cell, action) for cell in _CELLS] for action in range(6)]
"""By action and cell: where it leads on an empty field."""
NEAR: Final = [frozenset(beside(cell, action) for action in range(1, 5)) - {cell} for cell in _CELLS]
"""By cell: those next to it."""
VIEW: Final = [
    {
        other: (other // SIZE - cell // SIZE + SIGHT) * ACROSS + other % SIZE - cell % SIZE + SIGHT
        for other in _CELLS
        if max(abs(other // SIZE - cell // SIZE), abs(other % SIZE - cell % SIZE)) <= SIGHT
    }
    for cell in _CELLS
]
"""By cell: the cells that are seen from it, with their places in the view."""


class Foraging:
    """State: a `Field`. Observation: a `Sight`. Food lies in places that are drawn."""

    def __init__(self, steps: int = 50, name: str = "foraging-random") -> None:
        """Makes the game.

        Args:
            steps: after which it is broken off.
            name: its id.
        """
        self.info = PosgInfo(
            id=name,
            agent_names=("forager_0", "forager_1"),
            utility="general_sum",
            actions=(ACTIONS, ACTIONS),
            min_step=0.0,
            max_step=1.0,
            min_utility=0.0,
            max_utility=1.0,
            step_limit=steps,
            symmetric=True,
        )
        self._levels = uniform_over(range(1, LEVELS + 1))
        self._seen: dict[tuple[int, Foods], tuple[int, ...]] = {}

    def initial_state(self, choose: Choose) -> Field:
        cells: list[int] = []
        levels: list[int] = []
        for agent in range(2):
            levels.append(int(choose(f"level of agent {agent}", self._levels)))
            cells.append(self._start(agent, cells, choose))
        food = self._food(cells, sum(levels), choose)
        return cells[0], levels[0], cells[1], levels[1], sum(food[1::2]), food

    def _start(self, agent: int, taken: Sequence[int], choose: Choose) -> int:
        free = [place_of(cell) for cell in _CELLS if cell not in taken]
        return cell_of(choose(f"start of agent {agent}", uniform_over(free)))

    def _food(self, cells: Sequence[int], most: int, choose: Choose) -> Foods:
        open_cells = [cell for cell in _CELLS if len(NEAR[cell]) == 4 and cell not in cells]
        food: list[int] = []
        for number in range(FOODS):
            if not open_cells:
                break
            cell = cell_of(choose(f"place of food {number}", uniform_over([place_of(one) for one in open_cells])))
            food += [cell, int(choose(f"level of food {number}", uniform_over(range(1, most + 1))))]
            row, column = divmod(cell, SIZE)
            open_cells = [one for one in open_cells if max(abs(one // SIZE - row), abs(one % SIZE - column)) > 1]
        return tuple(food)

    def active(self, state: Field) -> Sequence[int]:
        return (0, 1) if state[5] else ()

    def legal_actions(self, state: Field, agent: int) -> Sequence[str]:
        return ACTIONS if state[5] else ()

    def move(self, state: Field, actions: Joint, choose: Choose) -> Moved:
        return step(state, _NUMBER[actions[0]], _NUMBER[actions[1]])

    def sample_step(self, state: Field, actions: Joint, rng: random.Random) -> Moved:
        """As `move`: a step has no chance."""
        return step(state, _NUMBER[actions[0]], _NUMBER[actions[1]])

    def observe(self, state: Field, actions: Joint | None, choose: Choose) -> Sequence[Sight]:
        return self._told(state)

    def sample_observations(self, state: Field, actions: Joint | None, rng: random.Random) -> Sequence[Sight]:
        """As `observe`: observations have no chance."""
        return self._told(state)

    def _told(self, state: Field) -> Sequence[Sight]:
        cell, level, cell_1, level_1, _, food = state
        place = VIEW[cell].get(cell_1, UNSEEN)
        if place < 0:
            return ((level, -1, 0, *self._in_view(cell, food)), (level_1, -1, 0, *self._in_view(cell_1, food)))
        return (
            (level, place, level_1, *self._in_view(cell, food)),
            (level_1, 2 * MIDDLE - place, level, *self._in_view(cell_1, food)),
        )

    def _in_view(self, cell: int, food: Foods) -> tuple[int, ...]:
        found = self._seen.get((cell, food))
        if found is None:
            view, seen = VIEW[cell], []
            for number in range(0, len(food), 2):
                place = view.get(food[number])
                if place is not None:
                    seen += [place, food[number + 1]]
            if len(self._seen) > 500_000:
                self._seen.clear()
            found = self._seen[cell, food] = tuple(seen)
        return found

    def rollout(self, state: Field, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        """Returns the discounted return of one forager, while both act at random."""
        uniform, following, total, scale = rng.random, NEXT, 0.0, 1.0
        cell, level, cell_1, level_1, spawned, food = state
        lying = set(food[::2])
        for _ in range(limit):
            if not food:
                break
            both = int(uniform() * 36.0)
            one, two = both // 6, both % 6
            if (one == 5 and NEAR[cell] & lying) or (two == 5 and NEAR[cell_1] & lying):
                after, paid, _ = step((cell, level, cell_1, level_1, spawned, food), one, two)
                cell, _, cell_1, _, _, food = after
                lying = set(food[::2])
                total += scale * paid[agent]
            else:
                there, there_1 = following[one][cell], following[two][cell_1]
                if there in lying:
                    there = cell
                if there_1 in lying:
                    there_1 = cell_1
                if there != there_1:
                    cell, cell_1 = there, there_1
            scale *= discount
        return total

    def state_to_json(self, state: Field) -> Json:
        cell, level, cell_1, level_1, spawned, food = state
        return {
            "agents": [{"cell": place_of(cell), "level": level}, {"cell": place_of(cell_1), "level": level_1}],
            "food": [{"cell": place_of(food[number]), "level": food[number + 1]} for number in range(0, len(food), 2)],
            "total": spawned,
        }

    def state_from_json(self, described: Json) -> Field:
        agents = described["agents"]
        food = tuple(value for one in described["food"] for value in (cell_of(one["cell"]), one["level"]))
        (cell, level), (cell_1, level_1) = ((cell_of(agent["cell"]), agent["level"]) for agent in agents)
        return cell, level, cell_1, level_1, described["total"], food

    def observation_to_json(self, agent: int, observation: Sight) -> Json:
        level, place, other, *food = observation
        seen = [{"at": offset_of(food[number]), "level": food[number + 1]} for number in range(0, len(food), 2)]
        shown = None if place == UNSEEN else {"at": offset_of(place), "level": other}
        return {"level": level, "other": shown, "food": seen}

    def observation_from_json(self, agent: int, described: Json) -> Sight:
        """Returns an observation as the model has it."""
        other = described["other"]
        shown = (UNSEEN, 0) if other is None else (_place(other["at"]), other["level"])
        food = (value for one in described["food"] for value in (_place(one["at"]), one["level"]))
        return (described["level"], *shown, *food)

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the bounds of column, row and level of oneself, the other and up to eight foods, as in POSGGym."""
        things, most = 2 + FOODS, float(ACROSS - 1)
        return (-1.0, -1.0, 0.0) * things, (most, most, float(LEVELS)) * 2 + (most, most, 2.0 * LEVELS) * FOODS

    def encode(self, agent: int, observation: Sight) -> Sequence[float]:
        level, place, other, *food = observation
        triples = [SIGHT, SIGHT, level]
        for at, strength in ((place, other), *zip(food[::2], food[1::2], strict=True)):
            triples += [-1, -1, 0] if at == UNSEEN else [at % ACROSS, at // ACROSS, strength]
        return tuple(map(float, [*triples, *[-1, -1, 0] * (FOODS - len(food) // 2)]))

    def render(self, state: Field, agent: int | None = None) -> str:
        cell, level, cell_1, level_1, _, food = state
        signs = {food[number]: f"f{food[number + 1]}" for number in range(0, len(food), 2)}
        signs |= {cell: f"a{level}", cell_1: f"b{level_1}"}
        own = None if agent is None else (cell, cell_1)[agent]
        lines = []
        for row in range(SIZE):
            cells = range(row * SIZE, row * SIZE + SIZE)
            lines.append(" ".join(signs.get(one, ". ") for one in cells if own is None or one in VIEW[own]))
        return "\n".join(line.rstrip() for line in lines if line)


def step(state: Field, action: int, action_1: int) -> Moved:
    """Plays one step; actions are numbers."""
    cell, level, cell_1, level_1, spawned, food = state
    lying = food[::2]
    there, there_1 = NEXT[action][cell], NEXT[action_1][cell_1]
    if there in lying:
        there = cell
    if there_1 in lying:
        there_1 = cell_1
    if there == there_1:
        there, there_1 = cell, cell_1
    paid = paid_1 = 0.0
    if action == LOAD or action_1 == LOAD:
        left: list[int] = []
        for number in range(0, len(food), 2):
            place, weight = food[number], food[number + 1]
            lifts = level if action == LOAD and place in NEAR[cell] else 0
            lifts_1 = level_1 if action_1 == LOAD and place in NEAR[cell_1] else 0
            if lifts + lifts_1 >= weight:
                share = weight / ((lifts + lifts_1) * spawned)
                paid += lifts * share
                paid_1 += lifts_1 * share
            else:
                left += [place, weight]
        if len(left) < len(food):
            food = tuple(left)
            if not food:
                return (there, level, there_1, level_1, spawned, food), (paid, paid_1), (True, True)
    return (there, level, there_1, level_1, spawned, food), (paid, paid_1) if paid or paid_1 else _PLAIN, _ON


def place_of(cell: int) -> list[int]:
    """Returns column and row of a cell."""
    return [cell % SIZE, cell // SIZE]


def cell_of(place: Json) -> int:
    """Returns the cell of a column and a row."""
    column, row = place
    return int(row) * SIZE + int(column)


def offset_of(place: int) -> list[int]:
    """Returns how far right and how far down a place of the view is from oneself."""
    return [place % ACROSS - SIGHT, place // ACROSS - SIGHT]


def _place(offset: Json) -> int:
    right, down = offset
    return (int(down) + SIGHT) * ACROSS + int(right) + SIGHT
