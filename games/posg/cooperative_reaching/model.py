"""Cooperative reaching as a `PosgModel`; `RULES.md` is the specification.

Rules: Rahman et al., "Generating Teammates for Training Robust Ad Hoc Teamwork Agents via Best-Response Diversity"
(2023), with the sizes and goals of POSGGym's documentation (Schwartz et al. 2025).
"""

import random
from collections.abc import Sequence
from typing import Final, TypeAlias

from games.api import Json
from games.posg.api import Choose, Joint, Moved, PosgError, PosgInfo
from games.posg.chance import uniform_over
from games.posg.inference.filtering import InfersByItsRules

Cells: TypeAlias = tuple[int, int]
"""By agent: its cell, row × size + column."""

ACTIONS: Final = ("stay", "up", "down", "left", "right")
BEST: Final = 1.0
LESSER: Final = 0.75
UNSEEN: Final = -1
"""In an observation: the other agent is out of sight."""

_STEPS: Final = {"stay": (0, 0), "up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_NOTHING: Final = (0.0, 0.0)
_ON: Final = (False, False)
_ALL_OVER: Final = (True, True)


class CooperativeReaching(InfersByItsRules):
    """State: the cells of both agents. Observation: own cell and the other's, `UNSEEN` where it is out of sight."""

    def __init__(self, size: int = 5, sight: int | None = None, steps: int = 50) -> None:
        """Makes the game.

        Args:
            size: cells a side, at least 3.
            sight: columns and rows away in which the other agent is seen; None: everywhere.
            steps: after which it is broken off.

        Raises:
            PosgError: a size or sight that makes no game.
        """
        if size < 3 or (sight is not None and sight < 0):
            raise PosgError(
                f"cooperative-reaching has a side of 3 cells or more and a sight of 0 or more, not {size} and {sight}."
            )
        self.info = PosgInfo(
            id="cooperative-reaching",
            agent_names=("agent_0", "agent_1"),
            utility="identical",
            actions=(ACTIONS, ACTIONS),
            min_step=0.0,
            max_step=BEST,
            min_utility=0.0,
            max_utility=BEST,
            step_limit=steps,
            symmetric=True,
            perfect_information=sight is None,
        )
        self.size: Final = size
        last = size * size - 1
        self.goals: Final = {0: BEST, last: BEST, size - 1: LESSER, last - size + 1: LESSER}
        """Value by cell: 1 top left and bottom right, 0.75 in the other corners."""
        self.next: Final = {action: [self._moved(cell, action) for cell in range(last + 1)] for action in ACTIONS}
        """By action and cell: where an agent goes."""
        self._starts = [row * size + column for row in range(1, size - 1) for column in range(1, size - 1)]
        self._places = uniform_over([self._place(cell) for cell in self._starts])
        self._sight = 2 * size if sight is None else sight
        self._sees = [[self._is_seen(cell, other) for other in range(last + 1)] for cell in range(last + 1)]
        self._joint: dict[Cells, list[Cells]] = {}

    def initial_state(self, choose: Choose) -> Cells:
        return (
            self._cell(choose("start of agent 0", self._places)),
            self._cell(choose("start of agent 1", self._places)),
        )

    def initial_state_given(self, agent: int, observation: Cells, choose: Choose) -> Cells:
        """Returns a start that shows `agent` an observation; the other is anywhere out of its sight if unseen."""
        own, other = observation
        unseen = [cell for cell in self._starts if not self._sees[own][cell]]
        if own not in self._starts or other not in (*self._starts, *([UNSEEN] if unseen else [])):
            raise PosgError(f"no start of cooperative-reaching shows agent {agent} {observation!r}.")
        if other == UNSEEN:
            places = uniform_over([self._place(cell) for cell in unseen])
            other = self._cell(choose(f"start of agent {1 - agent}", places))
        return (own, other) if agent == 0 else (other, own)

    def active(self, state: Cells) -> Sequence[int]:
        return () if state[0] == state[1] and state[0] in self.goals else (0, 1)

    def legal_actions(self, state: Cells, agent: int) -> Sequence[str]:
        return ACTIONS if self.active(state) else ()

    def move(self, state: Cells, actions: Joint, choose: Choose) -> Moved:
        first, second = self.next[actions[0]][state[0]], self.next[actions[1]][state[1]]
        if first == second and first in self.goals:
            value = self.goals[first]
            return (first, second), (value, value), _ALL_OVER
        return (first, second), _NOTHING, _ON

    def observe(self, state: Cells, actions: Joint | None, choose: Choose) -> Sequence[Cells]:
        first, second = state
        if self._sees[first][second]:
            return (state, (second, first))
        return ((first, UNSEEN), (second, UNSEEN))

    def sample_step(self, state: Cells, actions: Joint, rng: random.Random) -> Moved:
        """As `move`: a step has no chance."""
        first, second = self.next[actions[0]][state[0]], self.next[actions[1]][state[1]]
        if first == second and first in self.goals:
            value = self.goals[first]
            return (first, second), (value, value), _ALL_OVER
        return (first, second), _NOTHING, _ON

    def sample_observations(self, state: Cells, actions: Joint | None, rng: random.Random) -> Sequence[Cells]:
        """As `observe`: observations have no chance."""
        first, second = state
        if self._sees[first][second]:
            return (state, (second, first))
        return ((first, UNSEEN), (second, UNSEEN))

    def rollout(self, state: Cells, agent: int, rng: random.Random, limit: int, discount: float) -> float:
        """Returns the discounted value of the goal at which uniformly random agents meet, 0 if they do not."""
        if not self.active(state):
            return 0.0
        uniform, goals, following = rng.random, self.goals, self._joint
        for step in range(limit):
            after = following.get(state)
            if after is None:
                after = following[state] = [
                    (self.next[one][state[0]], self.next[two][state[1]]) for one in ACTIONS for two in ACTIONS
                ]
            state = after[int(uniform() * 25.0)]
            if state[0] == state[1] and state[0] in goals:
                return float(goals[state[0]] * discount**step)
        return 0.0

    def state_to_json(self, state: Cells) -> Json:
        return [self._place(cell) for cell in state]

    def state_from_json(self, described: Json) -> Cells:
        first, second = described
        return self._cell(first), self._cell(second)

    def observation_to_json(self, agent: int, observation: Cells) -> Json:
        own, other = observation
        return {"own": self._place(own), "other": None if other == UNSEEN else self._place(other)}

    def observation_from_json(self, agent: int, described: Json) -> Cells:
        """Returns an observation as the model has it."""
        other = described["other"]
        return self._cell(described["own"]), UNSEEN if other is None else self._cell(other)

    def vector_bounds(self, agent: int) -> tuple[Sequence[float], Sequence[float]]:
        """Returns the bounds of own column and row, and the other's, (size, size) where it is not seen."""
        return (0.0,) * 4, (self.size - 1.0, self.size - 1.0, float(self.size), float(self.size))

    def encode(self, agent: int, observation: Cells) -> Sequence[float]:
        own, other = observation
        unseen = [self.size, self.size]
        return tuple(map(float, (*self._place(own), *(unseen if other == UNSEEN else self._place(other)))))

    def render(self, state: Cells, agent: int | None = None) -> str:
        seen = state if agent is None or self._sees[state[agent]][state[1 - agent]] else (state[agent],)
        names = [0, 1] if agent is None or len(seen) == 2 else [agent]
        rows = []
        for row in range(self.size):
            cells = range(row * self.size, (row + 1) * self.size)
            rows.append(" ".join(self._drawn(cell, dict(zip(names, seen, strict=True))) for cell in cells))
        return "\n".join(rows)

    def _drawn(self, cell: int, agents: dict[int, int]) -> str:
        here = "".join(str(agent) for agent, at in agents.items() if at == cell)
        return (here or {BEST: "G", LESSER: "g"}.get(self.goals.get(cell, 0.0), ".")).ljust(2)

    def _moved(self, cell: int, action: str) -> int:
        row, column = divmod(cell, self.size)
        right, down = _STEPS[action]
        inside = 0 <= column + right < self.size and 0 <= row + down < self.size
        return (row + down) * self.size + column + right if inside else cell

    def _is_seen(self, cell: int, other: int) -> bool:
        (row, column), (other_row, other_column) = divmod(cell, self.size), divmod(other, self.size)
        return abs(row - other_row) <= self._sight and abs(column - other_column) <= self._sight

    def _place(self, cell: int) -> list[int]:
        return [cell % self.size, cell // self.size]

    def _cell(self, place: Json) -> int:
        column, row = place
        return int(row) * self.size + int(column)
