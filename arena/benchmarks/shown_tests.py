"""`cwm benchmark shown-tests`: what a first prompt's tests tell, by the mutants of a right program that they catch.

The usual choice and the one by what tests tell (see `cwm.suite.informative`) are as long as each other. Of the mutants
that all tests catch and the usual choice misses, each figure is the share that the other choice catches.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from arena.benchmarks.measurement import Measurement
from arena.machine import shipped
from arena.runs import inputs as run_inputs
from arena.runs.hidden_information import HiddenInformation
from arena.runs.origins import GAMES as TRAIN_GAMES
from arena.runs.origins import SEED
from arena.runs.task import make_task
from cwm.model.bundle import ModelBundle
from cwm.quality import mutation, mutation_score
from cwm.quality.mutation import Mutant
from cwm.quality.mutation_score import ScoreOptions
from cwm.sandbox.parent.host import Sandbox
from cwm.suite import rendering
from cwm.suite.selection import PromptOptions, select_for_prompt
from cwm.suite.types import UnitTest

GAMES: Final = (
    "tic_tac_toe",
    "connect_four",
    "leduc_poker",
    "gin_rummy",
    "mnk",
    "army5x5a",
    "quadranto",
    "hand_of_war",
    "backgammon",
    "bargaining",
)
MUTANTS: Final = 40
TEST_S: Final = 2.0


def run(models: Iterable[tuple[str, ModelBundle]], seed: int, workers: int) -> Iterator[Measurement]:
    """Yields one share a game, and their mean over the games where there is anything to catch.

    Args:
        models: registry ids and models, read one at a time.
        seed: of the mutants.
        workers: mutants at the same time; changes no figure.

    Raises:
        TesterError: no worker can be started.
    """
    found: list[Measurement] = []
    for game_id, bundle in models:
        found.append(_of_game(game_id, bundle, seed, workers))
        yield found[-1]
    shares = [item.value for item in found if item.value is not None]
    mean = statistics.fmean(shares) if shares else None
    yield Measurement("shown-tests/mean", mean, "of the missed", note=f"{len(shares)} of {len(found)} games")


def _of_game(game_id: str, bundle: ModelBundle, seed: int, workers: int) -> Measurement:
    inputs = run_inputs.registered(game_id, TRAIN_GAMES, SEED)
    tests = make_task(inputs, HiddenInformation.of(bundle)).tests
    sandbox = Sandbox(level=shipped.level_of([bundle.hash]))
    options = ScoreOptions(workers=workers, seed=seed, per_test_s=TEST_S)
    mutants = mutation.draw(bundle.source, MUTANTS, seed).mutants

    def caught(among: Sequence[Mutant], by: Sequence[UnitTest]) -> set[Mutant]:
        verdicts = mutation_score.score(bundle.program(), among, by, sandbox, options)
        return {verdict.mutant for verdict in verdicts if not verdict.survived}

    usual, telling = (
        select_for_prompt(tests, None, PromptOptions(mode=mode), inputs.initial_state)
        for mode in ("per_action", "telling")
    )
    by_usual, by_telling = caught(mutants, usual), caught(mutants, telling)
    by_all = by_usual | by_telling
    by_all |= caught([mutant for mutant in mutants if mutant not in by_all], tests)
    missed = by_all - by_usual
    lengths = [len(rendering.render(chosen, (), inputs.initial_state)) for chosen in (usual, telling)]
    note = (
        f"{len(mutants)} mutants: all {len(tests)} tests catch {len(by_all)}, {len(usual)} usual ones {len(by_usual)}, "
        f"{len(telling)} telling ones {len(by_telling)}; of {len(missed)} missed {len(missed & by_telling)}; "
        f"{lengths[0]:,} and {lengths[1]:,} characters"
    )
    share = len(missed & by_telling) / len(missed) if missed else None
    return Measurement(f"shown-tests/{game_id}", share, "of the missed", note=note)
