"""Pursuit and evasion as a `PosgModel`; `RULES.md` is the specification.

Rules: Seaman, van de Meent, Wingate, "Nested reasoning about autonomous agents using probabilistic programs" (2018), as
POSGGym 0.6.0 has them (Schwartz et al. 2025; MIT, see NOTICE): the variant `as-published` is what its code does,
`documented` what its documentation says.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, get_args

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.chance import uniform_over
from games.posg.pursuit_evasion.maze import ACTIONS, HEADINGS, LIMITS, MAPS, Maze

Chase: TypeAlias = tuple[int, int, int, int, int, int, int]
"""Poses of evader and pursuer, cells where they started, the goal's cell, least distance to it so far, 1 if over."""
Noticed: TypeAlias = tuple[int, int, int, int, int, int]
"""Walls around (bits), sees the other, hears the other, starts of evader and pursuer, goal (`UNKNOWN` to a pursuer)."""
Variant: TypeAlias = Literal["as-published", "documented"]

EVADER: Final = 0
PURSUER: Final = 1
UNKNOWN: Final = -1
REACHED: Final = 1.0
CAUGHT: Final = -1.0
PROGRESS: Final = 0.01

_NUMBER: Final = {action: number for number, action in enumerate(ACTIONS)}
_ON: Final = (False, False)
_ALL_OVER: Final = (True, True)


class PursuitEvasion:
    """State: a `Chase`. Observation: `Noticed`."""

    def __init__(self, grid: str = "16x16", variant: Variant = "as-published", steps: int | None = None) -> None:
        """Makes the game.

        Args:
            grid: name of its map.
            variant: `as-published` or `documented`.
            steps: after which it is broken off; None: as published for the map.

        Raises:
            PosgError: there is no such map or variant.
        """
        if grid not in MAPS or variant not in get_args(Variant):
            raise PosgError(
                f"pursuit-evasion has the maps {', '.join(MAPS)} and the variants {', '.join(get_args(Variant))}; "
                f"not {grid!r}, {variant!r}."
            )
        self.maze: Final = Maze(MAPS[grid], variant == "as-published")
        best = REACHED + PROGRESS * (self.maze.longest + 1)
        self._scale = best if variant == "as-published" else 1.0
        most = best / self._scale
        self.info = PosgInfo(
            id="pursuit-evasion",
            agent_names=("evader", "pursuer"),
            utility="zero_sum",
            actions=(ACTIONS, ACTIONS),
            min_step=-most,
            max_step=most,
            min_utility=-most,
            max_utility=most,
            step_limit=LIMITS[grid] if steps is None else steps,
        )

    def initial_state(self, choose: Choose) -> Chase:
        start = self._cell(choose("start of the evader", self._places(self.maze.starts)))
        post = self._cell(choose("start of the pursuer", self._places(self.maze.posts)))
        return self._started(start, post, choose)

    def initial_state_given(self, agent: int, observation: Noticed, choose: Choose) -> Chase:
        """Returns a start that shows `agent` an observation: the evader knows all, the pursuer not the goal."""
        _, _, _, start, post, goal = observation
        maze = self.maze
        if start in maze.starts and post in maze.posts and goal in (*maze.goals[start], UNKNOWN):
            known = self._chase(start, post, maze.goals[start][0] if goal == UNKNOWN else goal)
            if self._told(known)[agent] == observation:
                return known if agent == EVADER else self._started(start, post, choose)
        raise PosgError(f"no start of pursuit-evasion shows the {self.info.agent_names[agent]} {observation!r}.")

    def _started(self, start: int, post: int, choose: Choose) -> Chase:
        return self._chase(start, post, self._cell(choose("goal", self._places(self.maze.goals[start]))))

    def _chase(self, start: int, post: int, goal: int) -> Chase:
        return start * 4, post * 4, start, post, goal, self.maze.far[goal][start], 0

    def active(self, state: Chase) -> Sequence[int]:
        return () if state[6] else (0, 1)

    def legal_actions(self, state: Chase, agent: int) -> Sequence[str]:
        return () if state[6] else ACTIONS

    def move(self, state: Chase, actions: Joint, choose: Choose) -> Moved:
        return self._moved(state, _NUMBER[actions[0]], _NUMBER[actions[1]])

    def sample_step(self, state: Chase, actions: Joint, rng: random.Random) -> Moved:
        """As `move`: a step has no chance."""
        return self._moved(state, _NUMBER[actions[0]], _NUMBER[actions[1]])

    def _moved(self, state: Chase, action: int, action_1: int) -> Moved:
        maze = self.maze
        pose, pose_1, start, post, goal, least, _ = state
        cell = pose >> 2
        pose_1 = maze.after[action_1][pose_1]
        cell_1 = pose_1 >> 2
        pose = maze.after[action][pose]
        if cell_1 == cell:
            pose = cell * 4 + (pose & 3)  # the pursuer stands in its way out
        cell = pose >> 2
        near = maze.far[goal][cell]
        paid = 0.0
        if near < least:
            least, paid = near, PROGRESS
        if cell == cell_1 or maze.sight[pose_1] >> cell & 1:
            paid += CAUGHT
        elif cell == goal:
            paid += REACHED
        elif not paid:
            return (pose, pose_1, start, post, goal, least, 0), (0.0, 0.0), _ON
        else:
            paid = self._scaled(paid)
            return (pose, pose_1, start, post, goal, least, 0), (paid, -paid), _ON
        paid = self._scaled(paid)
        return (pose, pose_1, start, post, goal, least, 1), (paid, -paid), _ALL_OVER

    def _scaled(self, paid: float) -> float:
        return paid if self._scale == 1.0 else 2.0 * (paid + self._scale) / (2.0 * self._scale) - 1.0

    def observe(self, state: Chase, actions: Joint | None, choose: Choose) -> Sequence[Noticed]:
        return self._told(state)

    def sample_observations(self, state: Chase, actions: Joint | None, rng: random.Random) -> Sequence[Noticed]:
        """As `observe`: observations have no chance."""
        return self._told(state)

    def _told(self, state: Chase) -> Sequence[Noticed]:
        maze = self.maze
        pose, pose_1, start, post, goal, _, _ = state
        cell, cell_1 = pose >> 2, pose_1 >> 2
        hears = maze.heard[cell] >> cell_1 & 1
        return (
            (maze.walls[cell], maze.sight[pose] >> cell_1 & 1, hears, start, post, goal),
            (maze.walls[cell_1], maze.sight[pose_1] >> cell & 1, hears, start, post, UNKNOWN),
        )

    def rollout(self, state: Chase, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        """Returns the discounted return of one agent, while both walk at random."""
        uniform, after, sight, far = rng.random, self.maze.after, self.maze.sight, self.maze.far[state[4]]
        pose, pose_1, _, _, goal, least, over = state
        progress, total, scale = self._scaled(PROGRESS), 0.0, 1.0
        if over:
            return 0.0
        for _ in range(limit):
            both = int(uniform() * 16.0)
            cell = pose >> 2
            pose_1 = after[both & 3][pose_1]
            if pose_1 >> 2 != cell:
                pose = after[both >> 2][pose]
                cell = pose >> 2
            else:  # caught
                return (total + scale * self._scaled(CAUGHT)) * (-1.0 if agent else 1.0)
            gained = 0.0
            if far[cell] < least:
                least, gained = far[cell], PROGRESS
            if sight[pose_1] >> cell & 1:
                total += scale * self._scaled(gained + CAUGHT)
                break
            if cell == goal:
                total += scale * self._scaled(gained + REACHED)
                break
            if gained:
                total += scale * progress
            scale *= discount
        return -total if agent else total

    def ending(self, state: Chase) -> Mapping[str, Json]:
        """Returns how the chase ended: `caught`, `reached` or `timeout`."""
        pose, pose_1, _, _, _, _, over = state
        is_caught = pose >> 2 == pose_1 >> 2 or self.maze.sight[pose_1] >> (pose >> 2) & 1
        return {"ending": "timeout" if not over else "caught" if is_caught else "reached"}

    def state_to_json(self, state: Chase) -> Json:
        pose, pose_1, start, post, goal, least, over = state
        return {
            "evader": {"cell": self._place(pose >> 2), "heading": HEADINGS[pose & 3], "start": self._place(start)},
            "pursuer": {"cell": self._place(pose_1 >> 2), "heading": HEADINGS[pose_1 & 3], "start": self._place(post)},
            "goal": self._place(goal),
            "least": least,
            "over": bool(over),
        }

    def state_from_json(self, described: Json) -> Chase:
        one, two = described["evader"], described["pursuer"]
        return (
            self._cell(one["cell"]) * 4 + HEADINGS.index(one["heading"]),
            self._cell(two["cell"]) * 4 + HEADINGS.index(two["heading"]),
            self._cell(one["start"]),
            self._cell(two["start"]),
            self._cell(described["goal"]),
            described["least"],
            int(described["over"]),
        )

    def observation_to_json(self, agent: int, observation: Noticed) -> Json:
        walls, sees, hears, start, post, goal = observation
        return {
            "walls": [name for number, name in enumerate(HEADINGS) if walls >> number & 1],
            "sees": bool(sees),
            "hears": bool(hears),
            "evader start": self._place(start),
            "pursuer start": self._place(post),
            "goal": None if goal == UNKNOWN else self._place(goal),
        }

    def observation_from_json(self, agent: int, described: Json) -> Noticed:
        """Returns an observation as the model has it."""
        goal = described["goal"]
        return (
            sum(1 << HEADINGS.index(name) for name in described["walls"]),
            int(described["sees"]),
            int(described["hears"]),
            self._cell(described["evader start"]),
            self._cell(described["pursuer start"]),
            UNKNOWN if goal is None else self._cell(goal),
        )

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the bounds of four walls, sees, hears and three cells; the goal is (0, 0) to a pursuer."""
        return (0.0,) * 12, (1.0,) * 6 + (self.maze.width - 1.0, self.maze.height - 1.0) * 3

    def encode(self, agent: int, observation: Noticed) -> Sequence[float]:
        walls, sees, hears, start, post, goal = observation
        cells = [*self._place(start), *self._place(post), *self._place(max(goal, 0))]
        return tuple(map(float, (*(walls >> number & 1 for number in range(4)), sees, hears, *cells)))

    def render(self, state: Chase, agent: int | None = None) -> str:
        pose, pose_1, start, post, goal, _, _ = state
        signs = {} if agent == PURSUER else {goal: "G"}
        if agent is None:
            signs |= {pose_1 >> 2: "P", pose >> 2: "E"}
        else:
            signs |= {start: "e", post: "p"}
        return "\n".join(self.maze.drawn(signs))

    def _places(self, cells: Sequence[int]) -> list[tuple[Json, float]]:
        return uniform_over([self._place(cell) for cell in cells])

    def _place(self, cell: int) -> list[int]:
        return [cell % self.maze.width, cell // self.maze.width]

    def _cell(self, place: Json) -> int:
        column, row = place
        return int(row) * self.maze.width + int(column)
