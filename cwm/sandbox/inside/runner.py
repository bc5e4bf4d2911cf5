"""Runs unit tests, given as data, on a program. Loaded into workers: standard library alone.

A result is a JSON object: `id`, `kind`, `status` (pass, fail, error), `fields` (status of every field checked) and,
unless it passed, `field` (what failed first), `path`, `expected`, `got`, `message`, `line`, `traceback` and `output`
(the last ten lines).
"""

from random import Random
from typing import Any

from cwm.sandbox.inside.calls import ProgramCalls
from cwm.sandbox.inside.closed_deck import check_closed_deck
from cwm.sandbox.inside.comparisons import Mismatch
from cwm.sandbox.inside.inference import check_inference
from cwm.sandbox.inside.joint_checks import check_distribution, check_joint_play, check_step
from cwm.sandbox.inside.output import TailWriter
from cwm.sandbox.inside.play import check_random_play, check_value
from cwm.sandbox.inside.program import ProgramGame
from cwm.sandbox.inside.state import check_state
from cwm.sandbox.inside.transition import check_transition

OUTPUT_LINES = 10
JOINT = {"step": check_step, "distribution": check_distribution, "joint_play": check_joint_play}
"""By kind of test, what checks programs with a joint step."""


class TestRunner:
    """Runs tests on one program."""

    def __init__(self, game: ProgramGame, output: TailWriter, sources: dict[str, list[str]]) -> None:
        """Args:
        game: the program.
        output: takes what the program prints, and the steps of a replay.
        sources: lines of the program's files, for tracebacks.
        """
        self._calls = ProgramCalls(game, sources)
        self._output = output

    def run(self, test: dict[str, Any], seed: int) -> dict[str, Any]:
        """Runs one test and returns its result.

        Raises:
            MemoryError: the program ran out of memory.
        """
        fields: dict[str, str] = {}
        try:
            failed = self._check(test, fields, Random(f"test/{seed}/{test['id']}"))
        except Mismatch as raised:
            failed = [raised]
        for mismatch in failed:
            fields[mismatch.field] = "error" if mismatch.error else "fail"
        result = {"id": test["id"], "kind": test["kind"], "status": "pass", "fields": fields}
        return result | (self._report(failed[0]) if failed else {})

    def _check(self, test: dict[str, Any], fields: dict[str, str], rng: Random) -> list[Mismatch]:
        kind, data = test["kind"], test["data"]
        if kind == "transition":
            return check_transition(self._calls, data, fields)
        if kind == "inference" and "last_is_terminal" in data:
            return check_closed_deck(self._calls, data, fields, self._output, rng)
        if kind == "inference" and "legal_actions" in data:
            return check_state(self._calls, data, fields, self._output)
        if kind == "inference":
            return check_inference(self._calls, data, fields, self._output)
        if kind == "random_play":
            return check_random_play(self._calls, data, fields, self._output, rng)
        if kind == "value":
            return check_value(self._calls, data, fields)
        if kind in JOINT:
            return JOINT[kind](self._calls, data, fields, self._output, rng)
        raise ValueError(f"no such kind of test: {kind!r}")

    def _report(self, first: Mismatch) -> dict[str, Any]:
        error = first.error or {}
        return {
            "status": "error" if first.error else "fail",
            "field": first.field,
            "path": first.path,
            "expected": first.expected,
            "got": first.got,
            "message": first.message,
            "line": error.get("line"),
            "traceback": error.get("traceback", ""),
            "output": self._output.last_lines(OUTPUT_LINES),
        }
