"""A planner on a code world model: model and search run together in a sandboxed worker, one round trip a move."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

from arena.agents.api import AgentFailure, ForfeitKind, InfrastructureError, Move, Needs, Turn
from arena.agents.root_parallel import merged
from arena.agents.thought import of_search
from arena.machine.runtime import Runtime
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply, SandboxUnavailableError
from cwm.sandbox.wire.blame import Ours, blame
from cwm.storage.keys import derive
from games.api import DEFAULT_VIEW, GameInfo
from search import session
from search.api import PlannerConfig
from search.posg import session as posg_session
from search.posg.config import PosgPlannerConfig

_SESSION = "search.session"
_POSG_SESSION = "search.posg.session"
_TIME = (Outcome.CPU_EXCEEDED, Outcome.WALL_TIMEOUT)


class ModelAgent:
    """Plays with a synthesised program; it never sees the true game, only its own observations.

    Each game gets fresh workers, so that nothing which a program keeps to itself passes from game to game. With
    several of them each searches with its part of the simulations and its own seed, and the visits of the roots are
    added up: the move is a function of the seed and of the number of workers.
    """

    payload: Sequence[str] = session.PAYLOAD
    session = _SESSION

    def __init__(
        self,
        program: ProgramSource,
        config: PlannerConfig,
        runtime: Runtime,
        name: str,
        view: str = DEFAULT_VIEW,
        workers: int = 1,
    ) -> None:
        """Args:
        program: the model.
        config: of the planner; its simulations are those of all workers together.
        runtime: limits of each worker.
        name: label in tables.
        view: which of the game's views it is shown.
        workers: how many search at once, at most one for each simulation.
        """
        self.name = name
        self.view = view
        self.needs = Needs(state="json")
        self._program = program
        self._config = config
        self._runtime = runtime
        self._count = max(1, min(workers, config.simulations))
        self._workers: list[Worker] = []

    def start(self, info: GameInfo, seat: int, seed: int) -> None:
        self.close()
        sandbox = Sandbox(limits=self._runtime.limits, level=self._runtime.level, payload=self.payload)
        for index in range(self._count):
            try:
                self._workers.append(sandbox.start(self._program, seed=_seed(seed, index)))
            except SandboxUnavailableError as error:
                raise InfrastructureError(str(error)) from error
            check(self._workers[-1].loaded)

    def act(self, turn: Turn) -> Move:
        if not self._workers:
            raise InfrastructureError(f"{self.name} was asked for a move before the game began.")
        if self._count == 1:
            return _move(check(self._ask(turn, 0)), turn.explain)
        with ThreadPoolExecutor(self._count) as threads:
            replies = list(threads.map(lambda index: self._ask(turn, index), range(self._count)))
        return _move(merged([check(reply) for reply in replies]), turn.explain)

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._workers = []

    def _ask(self, turn: Turn, index: int) -> Reply:
        argument = {
            **self._asked(turn, index),
            "player": turn.player,
            "history": [[observation, action] for observation, action in turn.history],
            **({"explain": True} if turn.explain else {}),
        }
        return self._workers[index].payload(
            self.session, "choose", argument, seed=_seed(turn.seed, index), timeout_s=self._runtime.move_timeout_s
        )

    def _asked(self, turn: Turn, index: int) -> dict[str, Any]:
        """Returns the settings of one worker's search, and what it is told beside what the player saw and did."""
        share, rest = divmod(self._config.simulations, self._count)
        return {"config": replace(self._config, simulations=share + (index < rest)).to_json(), "state": turn.state}


class JointModelAgent(ModelAgent):
    """Plays with a program with a joint step: the planners for simultaneous moves run beside it in its worker."""

    payload = posg_session.PAYLOAD
    session = _POSG_SESSION

    def __init__(
        self,
        program: ProgramSource,
        config: PosgPlannerConfig,
        runtime: Runtime,
        name: str,
        view: str = DEFAULT_VIEW,
    ) -> None:
        """Args:
        program: the model.
        config: of the planner.
        runtime: limits of the worker.
        name: label in tables.
        view: which of the game's views it is shown.
        """
        super().__init__(program, PlannerConfig(), runtime, name, view)
        self.needs = Needs(legal_actions=True)
        self._settings = config.to_json()

    def _asked(self, turn: Turn, index: int) -> dict[str, Any]:
        return {"config": self._settings, "legal": list(turn.legal_actions)}


def _seed(seed: int, index: int) -> int:
    """Returns a worker's seed; the first one's is the seed itself, as it is of one that searches alone."""
    return seed if index == 0 else derive("root-parallel worker", seed, index)


def check(reply: Reply) -> Any:
    """Returns the value of a reply.

    Raises:
        AgentFailure: the program failed or passed a limit.
        InfrastructureError: the sandbox is at fault.
    """
    fault = blame(reply)
    if fault is None:
        return reply.value
    detail = fault.outcome.value
    if fault.failure is not None:
        # Games are stored with these words: they stay as they were.
        line = "" if fault.failure.line is None else f", line {fault.failure.line}"
        detail += f": {fault.failure.type}{line}: {fault.failure.message}"
    if isinstance(fault, Ours):
        raise InfrastructureError(detail)
    kind: ForfeitKind = "timeout" if fault.outcome in _TIME else "crash"
    raise AgentFailure(kind, detail)


def _move(decision: Any, explain: bool = False) -> Move:
    # The answer comes from a process in which an untrusted program runs: nothing about its shape is taken for granted.
    if isinstance(decision, dict) and "action" in decision and decision["action"] is None:
        raise AgentFailure("empty", f"the search found no action: {str(decision.get('fallback'))[:200]}")
    if not isinstance(decision, dict) or not isinstance(decision.get("action"), str):
        raise AgentFailure("unparsable", f"the worker's answer holds no action: {str(decision)[:200]}")
    fallback = decision.get("fallback")
    errors = decision.get("errors")
    told = [decision.get(name) for name in ("visits", "values", "simulations", "belief_shares", "priors")]
    return Move(
        action=decision["action"],
        fallback=None if fallback is None else str(fallback)[:200],
        errors=_counts(errors) if isinstance(errors, dict) else {},
        thought=of_search(*told) if explain else None,
    )


def _counts(errors: dict[Any, Any]) -> dict[str, int]:
    return {str(message)[:200]: count for message, count in list(errors.items())[:50] if type(count) is int}


def leaf_of(bundle: ModelBundle) -> Literal["value", "rollout"]:
    """Returns how a planner on a model judges its leaves: by the model's value function, where it has one."""
    return "rollout" if bundle.value_source is None else "value"


def planner_settings(bundle: ModelBundle, base: PlannerConfig) -> PlannerConfig:
    """Returns settings of a planner with what a model has to offer: its leaf, and what it was found to play best with.

    Args:
        bundle: the model.
        base: all other settings, its rollouts among them.
    """
    settings: dict[str, Any] = {"leaf": leaf_of(bundle), **bundle.plays_with}
    return replace(base, **settings)


class LearningAgent(ModelAgent):
    """Plays one game with the model as it is then; `arena.pipeline.online_learning` learns from the game."""

    def __init__(
        self,
        bundle: ModelBundle,
        config: PlannerConfig,
        runtime: Runtime,
        name: str,
        view: str = DEFAULT_VIEW,
        workers: int = 1,
    ) -> None:
        """Args:
        bundle: the model.
        config: of the planner.
        runtime: limits of each worker.
        name: label in tables.
        view: which of the game's views it is shown.
        workers: how many search at once.
        """
        super().__init__(bundle.program(), config, runtime, name, view, workers)
        self._model_hash = bundle.hash

    def account(self) -> dict[str, Any]:
        """Returns the hash of the model that played."""
        return {"model": self._model_hash}
