"""Agents: what sits at a seat. An agent is shown its own view alone; the arena keeps the true game to itself."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from arena.agents.thought import Thought
from games.api import DEFAULT_VIEW, Action, GameInfo, Observation, State

ForfeitKind: TypeAlias = Literal[
    "illegal", "unparsable", "no_move", "two_moves", "empty", "truncated", "refused", "timeout", "crash"
]


class AgentFailure(Exception):
    """An agent gave no action that can be played: the game is forfeited, with this kind and cause."""

    def __init__(self, kind: ForfeitKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: ForfeitKind = kind
        self.detail = detail


class InfrastructureError(Exception):
    """Something of ours broke while an agent was to move: the game is never scored and is played again."""


class NoAnswerError(InfrastructureError):
    """A language model that was to move could not be asked: the game is never scored.

    Attributes:
        hopeless: whether the next question would fare no better: a cap is reached, a key or a name is wrong.
    """

    def __init__(self, message: str, hopeless: bool) -> None:
        super().__init__(message)
        self.hopeless = hopeless


@dataclass(frozen=True)
class Needs:
    """What an agent is given beyond its own observations and actions.

    Attributes:
        state: the hidden state, in games of perfect information only: as JSON, or as the game's own object.
        legal_actions: whether it looks at the list of legal actions.
        rendering: whether it wants the game's drawing of its own view.
    """

    state: Literal["none", "native", "json"] = "none"
    legal_actions: bool = False
    rendering: bool = False


@dataclass(frozen=True)
class Turn:
    """What an agent is told when it is to move.

    Attributes:
        player: its seat.
        history: its own decision points in its view, oldest first; the last action is None.
        state: see `Needs.state`; None in games of imperfect information.
        legal_actions: see `Needs.legal_actions`; () if the agent does not look.
        rendering: see `Needs.rendering`; None if the game draws nothing.
        seed: of every random choice of this move.
        explain: whether the move is to tell what was considered, where the agent can; it stays the same move.
    """

    player: int
    history: tuple[tuple[Observation, Action | None], ...]
    state: State | None
    legal_actions: tuple[Action, ...]
    rendering: str | None
    seed: int
    explain: bool = False

    @property
    def observation(self) -> Observation:
        """Returns what the agent sees now."""
        return self.history[-1][0]


@dataclass(frozen=True)
class Move:
    """An agent's answer.

    Attributes:
        action: what it plays.
        fallback: None, or why its own method gave up and it played at random.
        errors: exceptions of its model while it thought, by message, with counts.
        thought: what it considered, where `Turn.explain` asked for that and the agent can tell.
    """

    action: Action
    fallback: str | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    thought: Thought | None = None


class Agent(Protocol):
    """What sits at one seat for one game."""

    @property
    def name(self) -> str: ...

    @property
    def view(self) -> str: ...

    @property
    def needs(self) -> Needs: ...

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        """Begins a game.

        Raises:
            AgentFailure: the agent's program cannot be loaded.
            InfrastructureError: ours is at fault.
        """
        ...

    def act(self, turn: Turn) -> Move:
        """Chooses an action.

        Raises:
            AgentFailure: no playable answer.
            InfrastructureError: ours is at fault.
        """
        ...

    def close(self) -> None:
        """Ends the game; may be called more than once."""
        ...


@runtime_checkable
class KeepsAccount(Protocol):
    """An agent that says more of its game than its moves."""

    def account(self) -> dict[str, Any]:
        """Returns, as JSON, what the game's record is to keep of this agent; no wall-clock time is in it."""
        ...


@runtime_checkable
class HearsTheEnd(Protocol):
    """An agent that is told how its game ended."""

    def ended(self, returns: Sequence[float]) -> None:
        """Takes what the game is scored with, by player; called before `close`, not where the game was broken off."""
        ...


class RandomAgent:
    """Plays a uniformly random legal action."""

    needs = Needs(legal_actions=True)

    def __init__(self, name: str = "random", view: str = DEFAULT_VIEW) -> None:
        self.name = name
        self.view = view

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        pass

    def act(self, turn: Turn) -> Move:
        return Move(random.Random(turn.seed).choice(turn.legal_actions))

    def close(self) -> None:
        pass


class ScriptedAgent:
    """Plays given actions in order and fails where the script says so: for tests and for replaying a record."""

    needs = Needs()

    def __init__(self, script: Sequence[Action | Exception], name: str = "script", view: str = DEFAULT_VIEW) -> None:
        self.name = name
        self.view = view
        self.turns: list[Turn] = []
        self._script = list(script)
        self._next = 0

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._next = 0

    def act(self, turn: Turn) -> Move:
        self.turns.append(turn)
        if self._next >= len(self._script):
            raise AgentFailure("empty", f"the script has {len(self._script)} actions and no more")
        entry = self._script[self._next]
        self._next += 1
        if isinstance(entry, Exception):
            raise entry
        return Move(entry)

    def close(self) -> None:
        pass
