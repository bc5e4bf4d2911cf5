"""Mutation score: the share of small breakages of a right program that its unit tests notice.

Each mutant runs in a worker of its own, until the first test that it does not pass. What survives shows which tests
are missing, or changes nothing that a game could show.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

from cwm.quality.mutation import Mutant
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import ProgramSource
from cwm.sandbox.wire.blame import Ours, blame
from cwm.suite.execution import INFRA_RETRIES, Progress, RunOptions, SuiteRunner
from cwm.suite.types import UnitTest
from cwm.synthesis.candidate import TesterError

LOADING = "loading"
"""Stands for the test that caught a mutant that cannot even be loaded."""


@dataclass(frozen=True)
class ScoreOptions:
    """How mutants are tested.

    Attributes:
        workers: mutants at the same time; changes no result.
        seed: each test is seeded from it and its own id; the order of the tests derives from it.
        per_test_s: wall-clock seconds for one test; a mutant that does not end within them is caught.
    """

    workers: int = 1
    seed: int = 0
    per_test_s: float = 5.0


DEFAULT_OPTIONS = ScoreOptions()


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant.

    Attributes:
        mutant: the changed program.
        caught_by: id of the test that noticed, `LOADING`, or None if all passed.
        how: what was wrong: a field of the test, or the outcome of a worker that failed; "" for a survivor.
    """

    mutant: Mutant
    caught_by: str | None
    how: str = ""

    @property
    def survived(self) -> bool:
        """Whether no test noticed."""
        return self.caught_by is None

    def to_json(self) -> dict[str, Any]:
        """Returns the verdict as JSON, without the program."""
        shown = {name: value for name, value in asdict(self.mutant).items() if name != "source"}
        return shown | {"diff": list(self.mutant.diff), "caught_by": self.caught_by, "how": self.how}


@dataclass(frozen=True)
class MutationScore:
    """What the tests make of a program's mutants.

    Attributes:
        verdicts: one a mutant, in the order of the program's text.
        places: changes that the operators know in this program, the undrawn and the equivalent-looking included.
    """

    verdicts: tuple[Verdict, ...]
    places: int

    @property
    def caught(self) -> int:
        """Mutants that a test noticed."""
        return sum(not verdict.survived for verdict in self.verdicts)

    @property
    def share(self) -> float | None:
        """Share of the mutants that are caught, None if there are none."""
        return self.caught / len(self.verdicts) if self.verdicts else None

    @property
    def survivors(self) -> list[Verdict]:
        """The mutants that no test noticed, the smallest change first."""
        left = [verdict for verdict in self.verdicts if verdict.survived]
        return sorted(left, key=lambda verdict: (len("".join(verdict.mutant.diff)), verdict.mutant.line))

    def by_operator(self) -> dict[str, tuple[int, int]]:
        """Returns (caught, mutants) by operator."""
        return _counted((verdict.mutant.operator, not verdict.survived) for verdict in self.verdicts)

    def by_function(self) -> dict[str, tuple[int, int]]:
        """Returns (caught, mutants) by function."""
        return _counted((verdict.mutant.function, not verdict.survived) for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """Returns counts by operator and by function, and every survivor with its line and diff."""
        return {
            "mutants": len(self.verdicts),
            "caught": self.caught,
            "share": self.share,
            "places": self.places,
            "operators": {name: list(counts) for name, counts in self.by_operator().items()},
            "functions": {name: list(counts) for name, counts in self.by_function().items()},
            "survivors": [verdict.to_json() for verdict in self.survivors],
        }


def score(
    program: ProgramSource,
    mutants: Sequence[Mutant],
    tests: Sequence[UnitTest],
    sandbox: Sandbox,
    options: ScoreOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
) -> list[Verdict]:
    """Tests every mutant until a test notices.

    Args:
        program: what the mutants were made of; it should pass all tests, or every mutant fails with it.
        mutants: changed sources.
        tests: with distinct ids.
        sandbox: where the mutants run.
        options: how.
        progress: told after every mutant, from any thread.

    Returns:
        One verdict a mutant, in their order.

    Raises:
        TesterError: the sandbox failed again and again.
        SandboxUnavailableError: no worker can be started.
    """
    # A test of every kind and game comes early, so that a mutant is caught by one of the first, wherever it is wrong.
    shuffled = list(tests)
    random.Random(f"mutation/{options.seed}").shuffle(shuffled)
    numbers = itertools.count(1)

    def judged(mutant: Mutant) -> Verdict:
        name, how = first_failure(replace(program, source=mutant.source), shuffled, sandbox, options)
        number = next(numbers)
        if progress:
            progress(number, len(mutants))
        return Verdict(mutant, name, how)

    with ThreadPoolExecutor(max_workers=max(1, options.workers)) as pool:
        return list(pool.map(judged, mutants))


def first_failure(
    program: ProgramSource, tests: Sequence[UnitTest], sandbox: Sandbox, options: ScoreOptions
) -> tuple[str | None, str]:
    """Returns (id of the first test that a program does not pass, what was wrong), (None, "") if it passes all.

    Raises:
        TesterError: the sandbox failed again and again.
        SandboxUnavailableError: no worker can be started.
    """
    with closing(
        SuiteRunner(program, sandbox, RunOptions(1, options.seed, options.per_test_s, max_deaths=0))
    ) as runner:
        for batch in _growing(tests):
            results, ending = runner.run_first(batch)
            failed = next((result for result in results if result.status != "pass"), None)
            if failed is not None:
                return failed.id, failed.field
            if ending is not None:
                fault = blame(ending.reply)
                if isinstance(fault, Ours):
                    times = f"the sandbox failed {INFRA_RETRIES + 1} times"
                    raise TesterError(f"a mutant could not be tested: {times}: {fault.problem}")
                return batch[len(results)].id if ending.loads else LOADING, ending.reply.outcome.value
    return None, ""


def _growing(tests: Sequence[UnitTest]) -> Iterable[Sequence[UnitTest]]:
    """Yields the tests in batches, each twice as long as the one before: most mutants fall in the first."""
    start, size = 0, 8
    while start < len(tests):
        yield tests[start : start + size]
        start, size = start + size, 2 * size


def _counted(pairs: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    caught, total = Counter[str](), Counter[str]()
    for name, noticed in pairs:
        caught[name] += noticed
        total[name] += 1
    return {name: (caught[name], total[name]) for name in sorted(total)}
