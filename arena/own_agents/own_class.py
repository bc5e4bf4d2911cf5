"""A class that is not ours at the table: one of the user's own file, or one that an installed distribution brings."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from arena.agents.api import AgentFailure, HearsTheEnd, InfrastructureError, KeepsAccount, Move, Needs, Turn
from arena.agents.human import HumanQuitError
from arena.agents.specs import AgentSpec, AgentSpecError
from games import plugins
from games.api import DEFAULT_VIEW, GameError, GameInfo
from games.own_code import OwnCodeError, described, load, place_of


def resolve(spec: AgentSpec) -> AgentSpec:
    """Returns an agent with the hash of its file, after making one to see that it can be made.

    Raises:
        AgentSpecError: there is no such class, it takes no such options, it raises, or it has no `act`.
    """
    made_by = _class_of(spec)
    try:
        inspect.signature(made_by).bind(**spec.options)
    except TypeError as error:
        raise AgentSpecError(f"agent {spec.name!r} cannot be made with {sorted(spec.options)}: {error}.") from error
    try:
        inner = made_by(**spec.options)
    except Exception as error:
        raise AgentSpecError(f"agent {spec.name!r} cannot be made: {described(error)}.") from error
    if not callable(getattr(inner, "act", None)):
        raise AgentSpecError(
            f"agent {spec.name!r}: {type(inner).__name__} has no method `act(turn)`; see arena.agents.api.Agent."
        )
    return replace(spec, model_hash=_hash(spec))


def build(spec: AgentSpec) -> "OwnAgent":
    """Builds an agent that `resolve` returned.

    Raises:
        AgentSpecError: the class changed since it was resolved.
    """
    spec.check_unchanged(_hash(spec) or "", f"the file of {spec.model}")
    made_by: Callable[..., Any] = _class_of(spec)
    return OwnAgent(partial(made_by, **spec.options), spec.name, spec.view)


def _class_of(spec: AgentSpec) -> Any:
    try:
        return plugins.load(plugins.AGENTS, spec.kind) if spec.model is None else load(_place(spec.model))
    except GameError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error


def _hash(spec: AgentSpec) -> str | None:
    """Returns the content hash of the class's file; None for a class of a distribution, which has a version."""
    try:
        return None if spec.model is None else _place(spec.model).hash
    except OwnCodeError as error:
        raise AgentSpecError(f"agent {spec.name!r}: {error}") from error


def _place(model: str) -> Any:
    return place_of(model, "python:FILE:CLASS")


class OwnAgent:
    """An object of a class that is not ours, made for one game at one seat.

    It may do without `start` and `close`, and `act` may return the action alone. What it raises forfeits the game.

    Attributes:
        account: what the object says of its game (`KeepsAccount`); there only if it says anything.
    """

    account: Callable[[], dict[str, Any]]

    def __init__(self, make: Callable[[], Any], name: str, view: str = DEFAULT_VIEW) -> None:
        """Args:
        make: makes an object that has `act`.
        name: label in tables.
        view: which of the game's views it is shown.
        """
        self.name = name
        self.view = view
        self._make = make
        self._inner: Any = None

    @property
    def needs(self) -> Needs:
        needs = getattr(self._inner, "needs", None)
        return needs if isinstance(needs, Needs) else Needs(legal_actions=True)

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self._inner = _blamed(self._make)
        if isinstance(self._inner, KeepsAccount):
            self.account = partial(_account, self._inner)
        if callable(getattr(self._inner, "start", None)):
            _blamed(self._inner.start, info, seat, seed)

    def act(self, turn: Turn) -> Move:
        """Asks for a move.

        Raises:
            AgentFailure: it raised (`crash`), or gave neither an action nor a move (`unparsable`).
        """
        answer = _blamed(self._inner.act, turn)
        move = Move(answer) if isinstance(answer, str) else answer
        if not isinstance(move, Move) or not isinstance(move.action, str):
            raise AgentFailure("unparsable", f"act returned {_short(answer)}, no action (a text) and no Move")
        return move

    def ended(self, returns: Sequence[float]) -> None:
        if isinstance(self._inner, HearsTheEnd):
            _ignored(self._inner.ended, tuple(returns))

    def close(self) -> None:
        if callable(getattr(self._inner, "close", None)):
            _ignored(self._inner.close)


def _account(inner: KeepsAccount) -> dict[str, Any]:
    said = _ignored(inner.account)
    return said if isinstance(said, dict) else {}


def _blamed(method: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return method(*arguments)
    except (AgentFailure, InfrastructureError, HumanQuitError):
        raise
    except Exception as error:
        raise AgentFailure("crash", described(error)) from error


def _ignored(method: Callable[..., Any], *arguments: Any) -> Any:
    """Calls an agent after its last move, when nothing that it does counts any more; None where it raised."""
    try:
        return method(*arguments)
    except Exception:  # whatever the user's code raises
        return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"
