"""Which of some games to record next: those that reach branches, or catch mutants, that the recorded ones do not."""

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from cwm.quality import branch_coverage, mutation_score
from cwm.quality.mutation import Mutant
from cwm.quality.mutation_score import DEFAULT_OPTIONS, ScoreOptions
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.suite.build import BuildOptions, build
from cwm.suite.execution import Progress
from cwm.trajectories.recorded import Trajectory


@dataclass(frozen=True)
class Finds:
    """What the tests of one game would add.

    Attributes:
        branches: numbers of branches of the program that they take.
        mutants: places, in the list of surviving mutants, of those that they catch.
        steps: length of the game; of two equally good ones the shorter is taken.
    """

    branches: frozenset[int]
    mutants: frozenset[int]
    steps: int


@dataclass(frozen=True)
class Choice:
    """A game that was chosen.

    Attributes:
        index: its place among the candidates.
        branches: what it adds to those chosen before it.
        mutants: what it catches that those chosen before it do not.
    """

    index: int
    branches: frozenset[int]
    mutants: frozenset[int]


def rank(finds: Sequence[Finds], known: frozenset[int], count: int) -> list[Choice]:
    """Chooses games one after the other, each for what it adds to those before it.

    Args:
        finds: of the candidates.
        known: branches that the recorded games take.
        count: how many games at most.

    Returns:
        The choices, the most useful first; fewer than `count` where nothing else would add anything.
    """
    branches, mutants = set(known), set[int]()
    left = dict(enumerate(finds))
    chosen: list[Choice] = []
    while left and len(chosen) < count:
        index = max(left, key=lambda number: _worth(left[number], branches, mutants, number))
        found = left.pop(index)
        choice = Choice(index, found.branches - branches, found.mutants - mutants)
        if not choice.branches and not choice.mutants:
            break
        chosen.append(choice)
        branches |= found.branches
        mutants |= found.mutants
    return chosen


def _worth(found: Finds, branches: set[int], mutants: set[int], number: int) -> tuple[int, int, int]:
    return len(found.branches - branches) + len(found.mutants - mutants), -found.steps, -number


def explore(
    program: ProgramSource,
    survivors: Sequence[Mutant],
    candidates: Sequence[Trajectory],
    sandbox: Sandbox,
    tests: BuildOptions,
    options: ScoreOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
) -> list[Finds]:
    """Finds out what each candidate game would add as a source of unit tests.

    Args:
        program: a model that is right.
        survivors: mutants that the recorded games do not catch.
        candidates: games of the true rules.
        sandbox: where programs run.
        tests: which tests are made of each game; those that belong to no game are left out.
        options: how mutants are tested.
        progress: told after every mutant, from any thread.

    Returns:
        One entry a candidate.

    Raises:
        TesterError: the sandbox failed again and again.
        SandboxUnavailableError: no worker can be started.
    """
    groups = [[test for test in build([game], tests) if test.game >= 0] for game in candidates]
    coverages = branch_coverage.measure(program, groups, sandbox, options.seed)
    numbers = itertools.count(1)

    def catching(number: int) -> list[bool]:
        mutant = replace(program, source=survivors[number].source)
        caught = [mutation_score.first_failure(mutant, group, sandbox, options)[0] is not None for group in groups]
        done = next(numbers)
        if progress:
            progress(done, len(survivors))
        return caught

    with ThreadPoolExecutor(max_workers=max(1, options.workers)) as pool:
        caught = list(pool.map(catching, range(len(survivors))))
    return [
        Finds(
            coverage.taken,
            frozenset(mutant for mutant, games in enumerate(caught) if games[number]),
            len(candidates[number].steps),
        )
        for number, coverage in enumerate(coverages)
    ]
