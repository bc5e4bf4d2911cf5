"""Checks functions beside a program with a joint step, each in worker processes of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from cwm.functions.joint.probe import ASKED_AGAIN
from cwm.functions.materials import Materials
from cwm.functions.types import FunctionReport
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, ProgramSource, Reply
from cwm.sandbox.wire.plain_json import is_finite
from cwm.synthesis.candidate import problem_of
from cwm.synthesis.task import described
from cwm.synthesis.testing import in_parallel, started_worker
from games.api import Json

PROBE: Final = "cwm.functions.joint.probe"
PAYLOAD: Final = ("cwm.functions.prior_probe", PROBE)
OTHER_HASH_SEED: Final = 1
UNCHECKED: Final = "it could not be checked"
OTHERWISE: Final = f"{UNCHECKED}: its worker's answer is not what was asked for"
MOST_PROBLEMS: Final = 100
"""Lines of one check, at most; the probe has fewer sorts of problems."""
LONGEST_PROBLEM: Final = 20_000
"""Characters of one of them, at most."""

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
        reply = self._ask(source, self.check, self.argument)
        if problem := problem_of(reply):
            return FunctionReport((f"{UNCHECKED}: {problem}",))
        figures = reply.value
        if not _are_figures(figures):
            return FunctionReport((OTHERWISE,))
        problems = list(figures["problems"])
        speed = figures["calls"] / figures["seconds"] if figures["seconds"] else None
        if not problems and figures["asked"] and self.repeat:
            again = self._ask(source, self.repeat, {"asked": figures["asked"]}, OTHER_HASH_SEED)
            if problem := problem_of(again):
                problems = [f"{UNCHECKED}: {problem}"]
            else:
                problems = again.value["problems"] if _has_problems(again.value) else [OTHERWISE]
        return FunctionReport(tuple(problems), speed, figures["states"])

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


def _are_figures(value: Json) -> bool:
    """Returns whether an answer has the form that is asked for: a program may have written it itself."""
    return (
        _has_problems(value)
        and isinstance(value.get("asked"), list)
        and len(value["asked"]) <= ASKED_AGAIN
        and all(type(value.get(name)) is int and is_finite(value[name]) for name in ("states", "calls"))
        and value["states"] >= 0
        and value["calls"] >= 0
        and is_finite(value.get("seconds"))
        and value["seconds"] >= 0
        and (not value["seconds"] or is_finite(value["calls"] / value["seconds"]))
    )


def _has_problems(value: Json) -> bool:
    """Returns whether an answer names problems, in lines that can be kept."""
    lines = value.get("problems") if isinstance(value, dict) else None
    return (
        isinstance(lines, list)
        and len(lines) <= MOST_PROBLEMS
        and all(isinstance(line, str) and len(line) <= LONGEST_PROBLEM for line in lines)
    )
