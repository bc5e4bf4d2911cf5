"""A drone and a fugitive as a `PosgModel`; `RULES.md` is the specification.

Rules: Panella and Gmytrasiewicz (2017), as POSGGym's documentation tells them; with `variant="posggym"` as its code has
them: what the fugitive senses is mixed up and right more often.
"""

import random
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.grid import DIRECTIONS, Cell, CellGrid, read_grid

Places: TypeAlias = tuple[Cell, Cell]
"""Of the drone and of the fugitive."""
Variant: TypeAlias = Literal["documented", "posggym"]

UAV: Final = 0
FUGITIVE: Final = 1
STEP: Final = -0.04
SENSES: Final = ("north", "south", "level")
NOTHING: Final = "nothing"

_OVER: Final = (False, False)
_NUMBERS: Final = {direction: number for number, direction in enumerate(DIRECTIONS)}
_SENSED: Final = {
    # By the direction in which the house lies of the fugitive.
    "documented": {"north": "south", "east": "level", "south": "north", "west": "level"},
    "posggym": {"north": "south", "east": "north", "south": "level", "west": "level"},
}


class UavHunt:
    """State: the cells of drone and fugitive. The drone is told both cells, the second one perhaps wrongly, and the
    fugitive a word. As JSON, cells are columns and rows."""

    def __init__(
        self,
        size: int = 5,
        sight: float = 0.9,
        sense: float = 0.8,
        variant: Variant = "documented",
        steps: int = 50,
    ) -> None:
        """Makes the game.

        Args:
            size: cells in a row and in a column, at least 3.
            sight: probability that the drone is shown the fugitive's true cell.
            sense: probability that the fugitive beside the house is told the truth.
            variant: `documented`, or `posggym`: as its code has what the fugitive senses.
            steps: after which the game is broken off.

        Raises:
            PosgError: there is no such variant or size.
        """
        if variant not in get_args(Variant) or size < 3:
            raise PosgError(
                f"uav has the variants documented and posggym and sizes from 3, not {variant!r} and {size}."
            )
        self.grid: Final[CellGrid] = read_grid(["." * size] * size)
        self.house: Final[Cell] = self.grid.cell(size // 2, size // 4)
        self.info = PosgInfo(
            id="uav",
            agent_names=("uav", "fugitive"),
            utility="general_sum",
            actions=(DIRECTIONS, DIRECTIONS),
            min_step=-1.0,
            max_step=1.0,
            min_utility=-float(steps),
            max_utility=float(steps),
            step_limit=steps,
        )
        self._sight = sight
        self._free = tuple(cell for cell in self.grid.open if cell != self.house)
        self._true = {
            self.grid.next[self.house][(number + 2) % 4]: _SENSED[variant][direction]
            for number, direction in enumerate(DIRECTIONS)
            if self.grid.next[self.house][(number + 2) % 4] != self.house
        }
        self._sense = sense if variant == "documented" else sense + (1.0 - sense) / len(SENSES)
        self._senses = {
            truth: tuple((told, self._sense if told == truth else (1.0 - self._sense) / 2.0) for told in SENSES)
            for truth in SENSES
        }

        self._places = {
            drone: self._uniform([cell for cell in self._free if cell != drone]) for drone in self.grid.open
        }
        self._sights = {
            (drone, fugitive): self._sighted(drone, fugitive)
            for drone in self.grid.open
            for fugitive in self._free
            if drone != fugitive
        }

    def initial_state(self, choose: Choose) -> Places:
        drone = self._cell(choose("start of the UAV", self._uniform(self._free)))
        return drone, self._placed("start of the fugitive", drone, choose)

    def active(self, state: Places) -> Sequence[int]:
        return (UAV, FUGITIVE)

    def legal_actions(self, state: Places, agent: int) -> Sequence[str]:
        return DIRECTIONS

    def move(self, state: Places, actions: Joint, choose: Choose) -> Moved:
        (drone, fugitive), rewards = self._moved(state, actions)
        if fugitive in (drone, self.house):
            fugitive = self._placed("new place of the fugitive", drone, choose)
        return (drone, fugitive), rewards, _OVER

    def observe(self, state: Places, actions: Joint | None, choose: Choose) -> Sequence[Places | str]:
        drone, fugitive = state
        seen = self._cell(choose("sight of the UAV", self._sights[state]))
        truth = self._true.get(fugitive)
        sensed = NOTHING if truth is None else str(choose("sense of the fugitive", self._senses[truth]))
        return ((drone, seen), sensed)

    def sample_step(self, state: Places, actions: Joint, rng: random.Random) -> Moved:
        """As `move`, faster."""
        (drone, fugitive), rewards = self._moved(state, actions)
        if fugitive in (drone, self.house):
            free = [cell for cell in self._free if cell != drone]
            fugitive = free[int(rng.random() * len(free))]
        return (drone, fugitive), rewards, _OVER

    def sample_observations(self, state: Places, actions: Joint | None, rng: random.Random) -> Sequence[Places | str]:
        """As `observe`, faster."""
        drone, fugitive = state
        uniform = rng.random
        seen = fugitive
        if uniform() >= self._sight:
            beside = self._beside(state)
            seen = beside[int(uniform() * len(beside))]
        truth = self._true.get(fugitive)
        if truth is None:
            return ((drone, seen), NOTHING)
        if uniform() < self._sense:
            return ((drone, seen), truth)
        wrong = [sense for sense in SENSES if sense != truth]
        return ((drone, seen), wrong[int(uniform() * 2.0)])

    def _moved(self, state: Places, actions: Joint) -> tuple[Places, tuple[float, float]]:
        """Returns where both are before a caught or safe fugitive is placed anew, and what the step pays."""
        drone, fugitive = state
        drone = self.grid.next[drone][_NUMBERS[actions[UAV]]]
        if drone != fugitive:
            fugitive = self.grid.next[fugitive][_NUMBERS[actions[FUGITIVE]]]
        if fugitive == self.house:
            return (drone, fugitive), (-1.0, 1.0)
        return (drone, fugitive), (1.0, -1.0) if drone == fugitive else (STEP, STEP)

    def _beside(self, state: Places) -> list[Cell]:
        drone, fugitive = state
        return [cell for cell in self.grid.neighbours[fugitive] if cell != drone]

    def _placed(self, label: str, drone: Cell, choose: Choose) -> Cell:
        return self._cell(choose(label, self._places[drone]))

    def _sighted(self, drone: Cell, fugitive: Cell) -> list[tuple[Json, float]]:
        beside = self._beside((drone, fugitive))
        shown = [(fugitive, self._sight), *((cell, (1.0 - self._sight) / len(beside)) for cell in beside)]
        return [(list(self.grid.places[cell]), chance) for cell, chance in shown]

    def _uniform(self, cells: Sequence[Cell]) -> list[tuple[Json, float]]:
        return [(list(self.grid.places[cell]), 1.0 / len(cells)) for cell in cells]

    def _cell(self, place: Json) -> Cell:
        return self.grid.cell(*place)

    def state_to_json(self, state: Places) -> Json:
        return {"uav": list(self.grid.places[state[0]]), "fugitive": list(self.grid.places[state[1]])}

    def state_from_json(self, described: Json) -> Places:
        return self._cell(described["uav"]), self._cell(described["fugitive"])

    def observation_to_json(self, agent: int, observation: Places | str) -> Json:
        if isinstance(observation, str):
            return observation
        return {"uav": list(self.grid.places[observation[0]]), "fugitive": list(self.grid.places[observation[1]])}

    def render(self, state: Places, agent: int | None = None) -> str:
        """Returns the map; with `agent`, without what moves on it."""
        marks = ["."] * len(self.grid.places)
        marks[self.house] = "H"
        if agent is None:
            marks[state[1]], marks[state[0]] = "F", "U"
        width = self.grid.width
        return "\n".join(" ".join(marks[start : start + width]) for start in range(0, len(marks), width))
