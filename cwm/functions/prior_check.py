"""Checks policy priors beside their model, each in worker processes of its own."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from cwm.functions.probe_answers import OTHER_HASH_SEED, judged
from cwm.functions.types import FunctionReport
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.synthesis.testing import TesterSettings, in_parallel, started_worker
from games.api import GameInfo, Json

PROBE = "cwm.functions.prior_probe"


class ProcessPriorChecker:
    """Checks policy priors: form, repeatability, independence of what is hidden, speed.

    Args:
        source: the model.
        info: what is fixed about the game.
        initial_state: bound to INITIAL_STATE.
        settings: limits and seed.
        games: games on the model whose decision points are checked.
        points: decision points at which the hidden part of the state is swapped.
        draws: how often at each.
    """

    def __init__(
        self,
        source: str,
        info: GameInfo,
        initial_state: Json,
        settings: TesterSettings,
        *,
        games: int,
        points: int,
        draws: int,
    ) -> None:
        self._program = ProgramSource(source, initial_state, asdict(info))
        self._settings = settings
        self._argument = {"games": games, "points": points, "draws": draws}
        self._sandbox = Sandbox(settings.capped(), settings.level, (PROBE,))
        self._other = Sandbox(settings.capped(), settings.level, (PROBE,), hash_seed=OTHER_HASH_SEED)

    def __call__(self, sources: Sequence[str]) -> list[FunctionReport]:
        """Checks every prior.

        Returns:
            One report each, in the given order.

        Raises:
            TesterError: the sandbox failed.
        """
        # One at a time: functions that run beside each other would slow each other's clock.
        return in_parallel(self._check, sources, workers=1)

    def _check(self, source: str) -> FunctionReport:
        def again(asked: list[Any]) -> Reply:
            return self._ask(self._other, source, "repeat", {"asked": asked})

        reply = self._ask(self._sandbox, source, "check", self._argument)
        return judged(reply, again, "states", "compared")

    def _ask(self, sandbox: Sandbox, source: str, function: str, argument: dict[str, Any]) -> Reply:
        program = ProgramSource(**(vars(self._program) | {"prior_source": source}))
        with started_worker(sandbox, program, self._settings.seed) as worker:
            return self._answer(worker, function, argument)

    def _answer(self, worker: Worker, function: str, argument: dict[str, Any]) -> Reply:
        if worker.loaded.outcome is not Outcome.OK:
            return worker.loaded
        seconds = self._settings.total_seconds
        return worker.payload(PROBE, function, argument, seed=self._settings.seed, timeout_s=seconds)
