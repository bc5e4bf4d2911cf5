"""A planner on a code world model: model and search run together in a sandboxed worker, one round trip a move."""

from typing import Any

from arena.agents import AgentFailure, ForfeitKind, InfrastructureError, Move, Needs, Turn
from arena.runtime import Runtime
from cwm.sandbox.api import Outcome, ProgramSource, Reply
from cwm.sandbox.host import Sandbox, Worker
from cwm.sandbox.isolation import SandboxUnavailableError
from games.api import DEFAULT_VIEW, GameInfo
from search import session
from search.api import PlannerConfig

_SESSION = "search.session"
_TIME = (Outcome.CPU_EXCEEDED, Outcome.WALL_TIMEOUT)


class ModelAgent:
    """Plays with a synthesised program; it never sees the true game, only its own observations.

    Each game gets a fresh worker, so that nothing which a program keeps to itself passes from game to game.
    """

    def __init__(
        self, program: ProgramSource, config: PlannerConfig, runtime: Runtime, name: str, view: str = DEFAULT_VIEW
    ) -> None:
        self.name = name
        self.view = view
        self.needs = Needs(state="json")
        self._program = program
        self._config = config
        self._runtime = runtime
        self._worker: Worker | None = None

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self.close()
        sandbox = Sandbox(limits=self._runtime.limits, level=self._runtime.level, payload=session.PAYLOAD)
        try:
            self._worker = sandbox.start(self._program, seed=seed)
        except SandboxUnavailableError as error:
            raise InfrastructureError(str(error)) from error
        check(self._worker.loaded)

    def act(self, turn: Turn) -> Move:
        if self._worker is None:
            raise InfrastructureError(f"{self.name} was asked for a move before the game began.")
        argument = {
            "config": self._config.to_json(),
            "player": turn.player,
            "history": [[observation, action] for observation, action in turn.history],
            "state": turn.state,
        }
        reply = self._worker.payload(
            _SESSION, "choose", argument, seed=turn.seed, timeout_s=self._runtime.move_timeout_s
        )
        return _move(check(reply))

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def check(reply: Reply) -> Any:
    """Returns the value of a reply.

    Raises:
        AgentFailure: the program failed or passed a limit.
        InfrastructureError: the sandbox is at fault.
    """
    if reply.outcome is Outcome.OK:
        return reply.value
    detail = reply.outcome.value
    if reply.failure is not None:
        line = "" if reply.failure.line is None else f", line {reply.failure.line}"
        detail += f": {reply.failure.type}{line}: {reply.failure.message}"
    if reply.outcome.is_ours:
        raise InfrastructureError(detail)
    kind: ForfeitKind = "timeout" if reply.outcome in _TIME else "crash"
    raise AgentFailure(kind, detail)


def _move(decision: Any) -> Move:
    # The answer comes from a process in which an untrusted program runs: nothing about its shape is taken for granted.
    if isinstance(decision, dict) and "action" in decision and decision["action"] is None:
        raise AgentFailure("empty", f"the search found no action: {str(decision.get('fallback'))[:200]}")
    if not isinstance(decision, dict) or not isinstance(decision.get("action"), str):
        raise AgentFailure("unparsable", f"the worker's answer holds no action: {str(decision)[:200]}")
    fallback = decision.get("fallback")
    errors = decision.get("errors")
    return Move(
        action=decision["action"],
        fallback=None if fallback is None else str(fallback)[:200],
        errors=_counts(errors) if isinstance(errors, dict) else {},
    )


def _counts(errors: dict[Any, Any]) -> dict[str, int]:
    return {str(message)[:200]: count for message, count in list(errors.items())[:50] if type(count) is int}
