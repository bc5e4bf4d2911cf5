"""A class that is not ours at the table: one of the user's own file, or one that an installed distribution brings."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from arena.agents.api import AgentFailure, HearsTheEnd, InfrastructureError, KeepsAccount, Move, Needs, Turn
from arena.agents.human import HumanQuitError
from arena.agents.specs import AgentSpec, AgentSpecError
from games import plugins
from games.api import DEFAULT_VIEW, GameError, GameInfo
from games.own_code import OwnCodeError, described, load, place_of


def resolve(spec: AgentSpec) -> AgentSpec:
    """Returns an agent with the hash of its file, after checking that its class takes its options.

    Raises:
        AgentSpecError: there is no such class, it has no `act`, or it takes no such options.
    """
    made_by = _class_of(spec)
    if not callable(made_by):
        raise AgentSpecError(f"agent {spec.name!r}: {made_by!r} is no class and no function that gives an agent.")
    if inspect.isclass(made_by) and not callable(getattr(made_by, "act", None)):
        raise AgentSpecError(
            f"agent {spec.name!r}: {made_by.__name__} has no method `act(turn)`; see arena.agents.api.Agent."
        )
    try:
        inspect.signature(made_by).bind(**spec.options)
    except TypeError as error:
        raise AgentSpecError(f"agent {spec.name!r} cannot be made with {sorted(spec.options)}: {error}.") from error
    return replace(spec, model_hash=_hash(spec))


def build(spec: AgentSpec) -> "OwnAgent":
    """Builds an agent that `resolve` returned.

    Raises:
        AgentSpecError: the class changed since it was resolved, or gives no agent.
    """
    spec.check_unchanged(_hash(spec) or "", f"the file of {spec.model}")
    made_by: Callable[..., Any] = _class_of(spec)
    try:
        inner = made_by(**spec.options)
    except Exception as error:
        raise AgentSpecError(f"agent {spec.name!r} cannot be made: {described(error)}.") from error
    if not callable(getattr(inner, "act", None)):
        raise AgentSpecError(f"agent {spec.name!r}: {inner!r} has no method `act(turn)`; see arena.agents.api.Agent.")
    return (OwnAccountingAgent if isinstance(inner, KeepsAccount) else OwnAgent)(inner, spec.name, spec.view)


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
    """An object of a class that is not ours, at one seat.

    It may do without `start` and `close`, and `act` may return the action alone. What it raises forfeits the game.
    """

    def __init__(self, inner: Any, name: str, view: str = DEFAULT_VIEW) -> None:
        """Args:
        inner: has `act`.
        name: label in tables.
        view: which of the game's views it is shown.
        """
        self.name = name
        self.view = view
        needs = getattr(inner, "needs", None)
        self.needs = needs if isinstance(needs, Needs) else Needs(legal_actions=True)
        self._inner = inner

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
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


class OwnAccountingAgent(OwnAgent):
    """One that says more of its game than its moves."""

    def account(self) -> dict[str, Any]:
        """Returns what it says, {} where it fails to."""
        try:
            said = self._inner.account()
        except Exception:
            return {}
        return said if isinstance(said, dict) else {}


def _blamed(method: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return method(*arguments)
    except (AgentFailure, InfrastructureError, HumanQuitError):
        raise
    except Exception as error:
        raise AgentFailure("crash", described(error)) from error


def _ignored(method: Callable[..., Any], *arguments: Any) -> None:
    """Tells an agent something after its last move, when nothing that it does counts any more."""
    try:
        method(*arguments)
    except Exception:
        return


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"
