"""Unit tests of the states that some games went through, and what a program fails of them."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.storage.keys import canonical_json
from cwm.suite import build, execution
from cwm.suite.build import BuildOptions
from cwm.suite.execution import RunOptions
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.trajectories.recorded import Trajectory

MOST_TESTED: Final = {"transition": 1000, "inference": 150}
"""Tests by kind, at most, drawn where the games hold more: those of inference take the longest."""
PATIENCE: Final = 4.0
"""A failed test is asked once more, by itself, with so many times the seconds: a busy machine is no mistake."""


def of_games(played: Sequence[Trajectory], options: BuildOptions, seed: int) -> list[UnitTest]:
    """Returns tests of some games, each question once.

    Args:
        played: with indices that no other game of the suite has.
        options: which tests; random play, which belongs to no game, is left out.
        seed: of the draw where there are too many.
    """
    kinds = tuple(kind for kind in options.kinds if kind in MOST_TESTED)
    distinct: dict[str, UnitTest] = {}
    for test in build.build(played, replace(options, kinds=kinds)):
        distinct.setdefault(canonical_json([test.kind, test.data]), test)
    rng = random.Random(f"visited tests/{seed}")
    chosen: set[str] = set()
    for kind, most in MOST_TESTED.items():
        ids = [test.id for test in distinct.values() if test.kind == kind]
        chosen |= set(rng.sample(ids, min(most, len(ids))))
    return [test for test in distinct.values() if test.id in chosen]


def failed(
    program: ProgramSource, tests: Sequence[UnitTest], sandbox: Sandbox, options: RunOptions
) -> list[UnitTestResult]:
    """Returns the results of the tests that a program fails twice; what broke through a fault of ours is none.

    Raises:
        SandboxUnavailableError: no worker can be started.
    """
    found = execution.run_tests(program, tests, sandbox, options)
    doubtful = [test for test, result in zip(tests, found, strict=True) if result.status != "pass"]
    patient = replace(options, workers=1, per_test_s=PATIENCE * options.per_test_s)
    again = execution.run_tests(program, doubtful, sandbox, patient) if doubtful else []
    return [result for result in again if result.status != "pass" and _is_an_answer(result)]


def _is_an_answer(result: UnitTestResult) -> bool:
    return not result.outcome.is_ours and result.field != execution.NOT_RUN
