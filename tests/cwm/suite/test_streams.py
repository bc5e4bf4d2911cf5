"""Tests that are made, run and counted as they come are the tests, results and counts of all at once."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.suite import evaluation
from cwm.suite.build import BuildOptions, build, count, stream
from cwm.suite.evaluation import Evaluation, evaluate
from cwm.suite.execution import AHEAD, RunOptions, chunked, run_stream, run_tests
from cwm.suite.types import UnitTest
from cwm.trajectories.packed import PackedGames
from cwm.trajectories.recorded import Trajectory, collect
from games import registry
from games.api import state_to_json

OPEN = BuildOptions(kinds=("transition", "random_play", "inference", "value"), samples=1, several_draws=20)
CLOSED = BuildOptions(kinds=("transition", "random_play", "inference"), deck="closed")
STATE = BuildOptions(kinds=("inference",), infers="state")
NO_MODEL = "def get_current_player(state):\n    return 0\n"
"""Right at some states of the first player, wrong or missing everywhere else."""


@pytest.fixture(scope="module")
def games() -> list[Trajectory]:
    return collect(registry.make("kuhn_poker"), 12, 5)


@pytest.fixture(scope="module")
def program() -> ProgramSource:
    game = registry.make("kuhn_poker")
    return ProgramSource(NO_MODEL, state_to_json(game, game.initial_state()), asdict(game.info))


@pytest.mark.parametrize("options", [OPEN, CLOSED, STATE])
def test_tests_are_counted_without_being_made(games: list[Trajectory], options: BuildOptions) -> None:
    made = build(games, options)
    assert made
    assert count(games, options) == len(made)
    assert list(stream(PackedGames(games), options)) == made
    assert count([], options) == len(build([], options)) == 0


def test_a_chunk_ends_where_its_tests_are_many_or_large() -> None:
    tests = [UnitTest(str(number), "value", {"state": "x" * 20}, 0, number) for number in range(1000)]
    assert [len(chunk) for chunk in chunked(tests)] == [250] * 4
    large = [UnitTest(str(number), "value", {"state": "x" * size}, 0, number) for number, size in enumerate(
        [3_000_000, 3_000_000, 3_000_000, 20_000_000, 10, 10])]  # fmt: skip
    assert [[test.id for test in chunk] for chunk in chunked(large)] == [["0", "1"], ["2"], ["3"], ["4", "5"]]
    assert list(chunked([])) == []


def test_tests_are_made_only_a_few_chunks_ahead(
    games: list[Trajectory], program: ProgramSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cwm.suite.execution.CHUNK", 4)
    made = 0

    def counted() -> Iterator[UnitTest]:
        nonlocal made
        for test in stream(games, OPEN):
            made += 1
            yield test

    with closing(run_stream(program, counted(), Sandbox(), RunOptions(workers=1))) as done:
        first, results = next(done)
        assert (
            [result.id for result in results]
            == [test.id for test in first]
            == [f"transition-0-{number}" for number in range(4)]
        )
        assert made <= 4 * AHEAD + 1
    assert made <= 4 * AHEAD + 1


def test_an_evaluation_counts_what_all_results_at_once_add_up_to(
    games: list[Trajectory],
    program: ProgramSource,
    monkeypatch: pytest.MonkeyPatch,
    summarise: Callable[..., Evaluation],
) -> None:
    monkeypatch.setattr("cwm.suite.execution.CHUNK", 10)
    monkeypatch.setattr(evaluation, "KEPT_WHOLE", 3)
    sandbox, told = Sandbox(), list[tuple[int, int]]()
    tests = build(games, OPEN)
    results = run_tests(program, tests, sandbox)
    expected = summarise(tests, results, games, sandbox.level)
    found = evaluate(program, PackedGames(games), sandbox, OPEN, RunOptions(workers=2), lambda *args: told.append(args))
    assert found == expected
    assert [result.id for result in found.failed] == [result.id for result in results if result.status != "pass"]
    assert found.fields["current_player"].passed > 0
    assert told[-1] == (len(tests), len(tests))
    whole, others = found.failed[:3], found.failed[3:]
    assert list(whole) == [result for result in results if result.status != "pass"][:3]
    assert all(result.got is None and result.traceback == "" and result.message for result in others)
