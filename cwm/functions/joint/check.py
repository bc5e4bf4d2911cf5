"""Checks functions beside a program with a joint step, each in worker processes of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from cwm.functions.materials import Materials
from cwm.functions.probe_answers import OTHER_HASH_SEED, judged
from cwm.functions.types import FunctionReport
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.synthesis.task import described
from cwm.synthesis.testing import in_parallel, started_worker
from games.api import Json

PROBE: Final = "cwm.functions.joint.probe"
PAYLOAD: Final = ("cwm.functions.prior_probe", PROBE)

Place: TypeAlias = Literal["prior_source", "value_source", "inference_source"]
"""Field of `ProgramSource` that holds a function."""


@dataclass(frozen=True)
class JointChecker:
    """A `FunctionChecker` of functions beside a program with a joint step.

    Attributes:
        given: the program, and limits of the checks.
        place: where a worker is given the function.
        check: function of the probe that checks it.
        repeat: function that asks it again in another process, "" for none.
        argument: what the check is told.
    """

    given: Materials
    place: Place
    check: str
    repeat: str
    argument: dict[str, Json]

    def __call__(self, sources: Sequence[str]) -> list[FunctionReport]:
        """Checks every function.

        Returns:
            One report each, in the given order.

        Raises:
            TesterError: the sandbox failed.
        """
        # One at a time: functions that run beside each other would slow each other's clock.
        return in_parallel(self._checked, sources, workers=1)

    def _checked(self, source: str) -> FunctionReport:
        def again(asked: list[Any]) -> Reply:
            return self._ask(source, self.repeat, {"asked": asked}, OTHER_HASH_SEED)

        reply = self._ask(source, self.check, self.argument)
        return judged(reply, again if self.repeat else None, "states")

    def _ask(self, source: str, function: str, argument: dict[str, Any], hash_seed: int = 0) -> Reply:
        given, settings = self.given, self.given.tester
        field: dict[str, Any] = {self.place: source}
        program = ProgramSource(given.source, given.initial_state, described(given.info, given.joint), **field)
        sandbox = Sandbox(settings.capped(), settings.level, PAYLOAD, hash_seed=hash_seed)
        with started_worker(sandbox, program, settings.seed) as worker:
            if worker.loaded.outcome is not Outcome.OK:
                return worker.loaded
            seconds = settings.total_seconds
            return worker.payload(PROBE, function, argument, seed=settings.seed, timeout_s=seconds)
