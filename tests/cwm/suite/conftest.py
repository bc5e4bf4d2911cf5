"""Counting results that are already there."""

from collections.abc import Callable, Sequence

import pytest

from cwm.sandbox.wire.api import Level
from cwm.suite.evaluation import Counts, Evaluation
from cwm.suite.types import UnitTest, UnitTestResult
from cwm.trajectories.recorded import Trajectory

Summarise = Callable[[Sequence[UnitTest], Sequence[UnitTestResult], Sequence[Trajectory], Level], Evaluation]


@pytest.fixture(scope="session")
def summarise() -> Summarise:
    """Returns a function (tests, one result a test, the suite's games, level) -> their evaluation, counted at once."""

    def counted(
        tests: Sequence[UnitTest], results: Sequence[UnitTestResult], games: Sequence[Trajectory], level: Level
    ) -> Evaluation:
        counts = Counts()
        counts.add(tests, results)
        return counts.evaluation(games, level)

    return counted
