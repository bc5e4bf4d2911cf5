"""Plays games with an agent and tells its faults by kind, with the lines that led to them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from arena.agents.api import Agent, Move, RandomAgent, Turn
from arena.agents.specs import AgentSpec
from arena.machine.runtime import Runtime
from arena.matches import match, seating
from arena.own_agents import program
from arena.own_agents.program import ProgramAgent
from cwm.storage.keys import derive
from games.api import Game, GameInfo

GAMES: Final = 4
MOST_FAULTY: Final = 3
"""After so many games with a fault nothing new is to be learned: an agent that is late costs its whole time."""
SETTLE_S: Final = 0.05
"""So long it is waited for lines that nobody asked for."""
KEPT_LINES: Final = 4
LONGEST_LINE: Final = 240
END: Final = '{"type": "end"'
ENDING: Final = "ending"
"""The kind of a fault after the game: the exit of a program, which costs nothing in a match."""


@dataclass(frozen=True)
class Line:
    """One line to or from the agent.

    Attributes:
        way: `sent` or `received`.
        text: the line, shortened.
    """

    way: str
    text: str


@dataclass(frozen=True)
class Fault:
    """What an agent did wrong in one game.

    Attributes:
        kind: as a match counts it (`illegal`, `timeout`, …), or `ending`.
        detail: what happened.
        game: number of the game, from 0.
        seat: where the agent sat.
        lines: the last ones before it, oldest first.
    """

    kind: str
    detail: str
    game: int
    seat: int
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Findings:
    """What came of a check.

    Attributes:
        games: so many were played.
        moves: so many moves the agent made.
        faults: at most one of a match and one of the ending in each game.
    """

    games: int
    moves: int
    faults: tuple[Fault, ...]


def check(
    spec: AgentSpec,
    game: Game,
    games: int = GAMES,
    seed: int = 0,
    on_game: Callable[[int, int], object] = lambda done, total: None,
) -> Findings:
    """Plays an agent at every seat against random players.

    Args:
        spec: resolved.
        game: what is played.
        games: at most so many; fewer where several had faults.
        seed: of everything random.
        on_game: told how many games are done, and of how many.

    Raises:
        AgentSpecError: the agent cannot be built.
        games.api.GameError: the game does not end.
    """
    faults: list[Fault] = []
    faulty = moves = 0
    for number in range(games):
        notes = _Notes()
        seat = number % game.info.num_players
        found, made = _play(spec, game, number, seat, derive("agent check", seed, number), notes)
        faults += found
        moves += made
        faulty += bool(found)
        on_game(number + 1, games)
        if faulty == MOST_FAULTY:
            return Findings(number + 1, moves, tuple(faults))
    return Findings(games, moves, tuple(faults))


def _play(spec: AgentSpec, game: Game, number: int, seat: int, seed: int, notes: "_Notes") -> tuple[list[Fault], int]:
    """Plays one game; returns the agent's faults and how many moves it made."""
    agent: Agent
    if spec.traits.program:
        agent = program.build(spec, game, notes.add)
        agent.settle_s = SETTLE_S
    else:
        agent = _Noted(seating.build(spec, game, Runtime()), notes)
    others = itertools.count(1)
    seated = [
        agent if place == seat else RandomAgent(f"random {next(others)}") for place in range(game.info.num_players)
    ]
    seeds = [derive("agent", seed, place) for place in range(len(seated))]
    record = match.play(game, seated, derive("deal", seed), seeds)
    moves = sum(player == seat for player, _ in record.actions)
    faults = []
    if record.forfeit is not None:
        faults.append(Fault(record.forfeit.kind, record.forfeit.detail, number, seat, notes.before_the_end()))
    elif isinstance(agent, ProgramAgent) and agent.exit_code != 0:
        how = (
            "it did not end when its input was closed, and was killed"
            if agent.exit_code is None
            else f"it ended with exit code {agent.exit_code} after the game"
        )
        faults.append(Fault(ENDING, how, number, seat, notes.last()))
    return faults, moves


class _Notes:
    """The lines of one game."""

    def __init__(self) -> None:
        self._lines: list[Line] = []

    def add(self, way: str, text: str) -> None:
        shown = text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
        self._lines = [*self._lines[-KEPT_LINES:], Line(way, shown)]

    def last(self) -> tuple[Line, ...]:
        return tuple(self._lines[-KEPT_LINES:])

    def before_the_end(self) -> tuple[Line, ...]:
        """Returns the last lines without the one that says how a forfeited game was scored."""
        lines = self._lines[:-1] if self._lines and self._lines[-1].text.startswith(END) else self._lines
        return tuple(lines[-KEPT_LINES:])


@dataclass
class _Noted:
    """An agent of this process whose turns and answers are noted as a program's lines are."""

    agent: Agent
    notes: _Notes
    needs: Any = field(init=False)

    def __post_init__(self) -> None:
        self.needs = self.agent.needs

    @property
    def name(self) -> str:
        return self.agent.name

    @property
    def view(self) -> str:
        return self.agent.view

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self.agent.start(info, seat, seed)

    def act(self, turn: Turn) -> Move:
        self.notes.add("sent", f"observation {turn.observation}, legal actions {list(turn.legal_actions)}")
        move = self.agent.act(turn)
        self.notes.add("received", move.action)
        return move

    def close(self) -> None:
        self.agent.close()
