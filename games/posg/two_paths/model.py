"""Two paths to two goals as a `PosgModel`; `RULES.md` is the specification.

Rules: POSGGym's TwoPaths, after Schwartz, Zhou and Kurniawati (IROS 2022).
"""

import random
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.grid import DIRECTIONS, Cell, CellGrid, read_grid

Places: TypeAlias = tuple[Cell, Cell]
"""Of the runner and of the chaser."""
Around: TypeAlias = tuple[str, str, str, str]
"""What is north, east, south and west of an agent."""

RUNNER: Final = 0
CHASER: Final = 1
MAPS: Final[Mapping[int, tuple[str, ...]]] = {
    3: ("GC.", ".#G", ".R."),
    4: ("G.C.", ".##G", ".#..", "..R#"),
    7: ("G...C..", ".#####.", ".####.G", "..###.#", "#.###.#", "#..#..#", "##.R.##"),
}
"""By size: `R` and `C` where runner and chaser start, `G` goals, `#` walls."""
STEP: Final = -0.01

_GOES_ON: Final = (False, False)
_ENDS: Final = (True, True)
_NUMBERS: Final = {direction: number for number, direction in enumerate(DIRECTIONS)}


class TwoPaths:
    """State: the cells of runner and chaser. Observation: what is in the four cells around an agent, `opponent`, `wall`
    or `open`; as JSON an object by direction."""

    def __init__(self, size: int = 7, slip: float = 0.0, steps: int = 20) -> None:
        """Makes the game.

        Args:
            size: of the map: 3, 4 or 7.
            slip: probability that an agent's step goes in one of the three other directions, each equally likely.
            steps: after which the game is broken off.

        Raises:
            PosgError: there is no such map, or `slip` is no probability.
        """
        if size not in MAPS or not 0.0 <= slip < 1.0:
            raise PosgError(
                f"two-paths has maps of size 3, 4 and 7 and slips from 0 to below 1, not {size} and {slip}."
            )
        rows = MAPS[size]
        self.grid: Final[CellGrid] = read_grid(rows)
        marks = "".join(rows)
        self.goals: Final = frozenset(cell for cell, mark in enumerate(marks) if mark == "G")
        self.start: Final[Places] = (marks.index("R"), marks.index("C"))
        self.info = PosgInfo(
            id="two-paths",
            agent_names=("runner", "chaser"),
            utility="general_sum",
            actions=(DIRECTIONS, DIRECTIONS),
            min_step=-1.0,
            max_step=1.0,
            min_utility=-1.0 + STEP * (steps - 1),
            max_utility=1.0,
            step_limit=steps,
        )
        self._slip = slip
        self._slips = {
            meant: tuple((went, 1.0 - slip if went == meant else slip / 3.0) for went in DIRECTIONS)
            for meant in DIRECTIONS
        }
        pairs = [(runner, chaser) for runner in self.grid.open for chaser in self.grid.open]
        self._ends = {pair: self._end(*pair) for pair in pairs}
        self._around = {pair: self._look(*pair) for pair in pairs}

    def initial_state(self, choose: Choose) -> Places:
        return self.start

    def active(self, state: Places) -> Sequence[int]:
        return () if self._ends[state] else (RUNNER, CHASER)

    def legal_actions(self, state: Places, agent: int) -> Sequence[str]:
        return DIRECTIONS

    def move(self, state: Places, actions: Joint, choose: Choose) -> Moved:
        runner, chaser = state
        went = str(choose("way of the chaser", self._slips[actions[CHASER]])) if self._slip else actions[CHASER]
        chaser = self.grid.next[chaser][_NUMBERS[went]]
        if chaser != runner:
            went = str(choose("way of the runner", self._slips[actions[RUNNER]])) if self._slip else actions[RUNNER]
            runner = self.grid.next[runner][_NUMBERS[went]]
        return self._arrived((runner, chaser))

    def observe(self, state: Places, actions: Joint | None, choose: Choose) -> Sequence[Around]:
        runner, chaser = state
        return (self._around[runner, chaser], self._around[chaser, runner])

    def sample_step(self, state: Places, actions: Joint, rng: random.Random) -> Moved:
        """As `move`, faster."""
        runner, chaser = state
        after = self.grid.next
        chaser = after[chaser][self._went(actions[CHASER], rng)]
        if chaser != runner:
            runner = after[runner][self._went(actions[RUNNER], rng)]
        return self._arrived((runner, chaser))

    def sample_observations(self, state: Places, actions: Joint | None, rng: random.Random) -> Sequence[Around]:
        """As `observe`: nothing is drawn."""
        runner, chaser = state
        return (self._around[runner, chaser], self._around[chaser, runner])

    def _went(self, meant: str, rng: random.Random) -> int:
        number = _NUMBERS[meant]
        if not self._slip:
            return number
        left = rng.random() - self._slip
        return number if left >= 0.0 else (number + 1 + int(-left / self._slip * 3.0) % 3) % 4

    def _arrived(self, places: Places) -> Moved:
        paid = self._ends[places]
        if paid:
            return places, (paid, -paid), _ENDS
        return places, (STEP, STEP), _GOES_ON

    def _end(self, runner: Cell, chaser: Cell) -> float:
        """Returns what the runner gets for how the game ends here, 0 if it goes on; being seen counts before a goal."""
        if runner == chaser or runner in self.grid.neighbours[chaser]:
            return -1.0
        return float(runner in self.goals)

    def _look(self, own: Cell, other: Cell) -> Around:
        north, east, south, west = (
            "wall" if cell == own else "opponent" if cell == other else "open" for cell in self.grid.next[own]
        )
        return north, east, south, west

    def state_to_json(self, state: Places) -> Json:
        return {"runner": list(self.grid.places[state[0]]), "chaser": list(self.grid.places[state[1]])}

    def state_from_json(self, described: Json) -> Places:
        return self.grid.cell(*described["runner"]), self.grid.cell(*described["chaser"])

    def observation_to_json(self, agent: int, observation: Around) -> Json:
        return dict(zip(DIRECTIONS, observation, strict=True))

    def render(self, state: Places, agent: int | None = None) -> str:
        """Returns the map; with `agent`, without the agents: nobody is told where it stands."""
        marks = [
            "G" if cell in self.goals else "." if cell in self.grid.open else "#"
            for cell in range(len(self.grid.places))
        ]
        if agent is None:
            marks[state[0]], marks[state[1]] = "R", "C"
        width = self.grid.width
        return "\n".join(" ".join(marks[start : start + width]) for start in range(0, len(marks), width))
