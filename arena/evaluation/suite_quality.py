"""How good a model's unit tests are: which of its mutants they catch, which of its branches they reach; and which games
would add to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.evaluation.mixture import collect_mixed, standard_mixture
from arena.machine import shipped
from arena.matches.game_source import load_bundle
from arena.runs import origins
from arena.runs.hidden_information import HiddenInformation
from arena.runs.inputs import Inputs
from arena.runs.task import build_options
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.quality import aimed_games, branch_coverage, mutation, mutation_score
from cwm.quality.aimed_games import Choice
from cwm.quality.branch_coverage import Branch, Coverage
from cwm.quality.mutation_score import MutationScore, ScoreOptions, Verdict
from cwm.sandbox.parent.host import Sandbox
from cwm.suite.build import build
from cwm.suite.execution import Progress
from cwm.trajectories.recorded import Trajectory, game_seed

AIM_SEED_OFFSET = 2_000_003
"""Candidate games have seeds of their own: no training or held-out game is among them."""
MUTANTS = 60
SURVIVORS = 20
"""At most so many surviving mutants, the smallest changes, are put to every candidate game."""
NO_MUTANTS = 0


@dataclass(frozen=True)
class SuiteQuality:
    """What a model's tests make of it.

    Attributes:
        games: that the tests are made of.
        tests: how many there are.
        failed: id of the first test that the model itself does not pass, None if it passes all; then no mutant is
            tested.
        coverage: of the model's branches.
        score: of its mutants.
    """

    games: int
    tests: int
    failed: str | None
    coverage: Coverage
    score: MutationScore

    def to_json(self) -> dict[str, Any]:
        """Returns the figures as JSON."""
        sizes = {"games": self.games, "tests": self.tests, "failed": self.failed}
        return sizes | {"coverage": self.coverage.to_json(), "mutation": self.score.to_json()}


def measure(
    bundle: ModelBundle, inputs: Inputs, mutants: int, options: ScoreOptions, progress: Progress | None = None
) -> SuiteQuality:
    """Measures coverage and mutation score of the unit tests that a model was made with.

    Args:
        bundle: the model.
        inputs: what it was made from.
        mutants: how many are drawn at most.
        options: seed and workers.
        progress: told after every mutant.

    Raises:
        TesterError: the sandbox failed again and again, or the model does not load.
    """
    sandbox = Sandbox(level=shipped.level_of([bundle.hash]))
    tests = build(inputs.train, build_options(inputs, False, HiddenInformation.of(bundle)))
    coverage = branch_coverage.measure(bundle.program(), [tests], sandbox, options.seed)[0]
    failed, _ = mutation_score.first_failure(bundle.program(), tests, sandbox, options)
    drawn = mutation.draw(bundle.source, mutants if failed is None else NO_MUTANTS, options.seed)
    verdicts = mutation_score.score(bundle.program(), drawn.mutants, tests, sandbox, options, progress)
    return SuiteQuality(len(inputs.train), len(tests), failed, coverage, MutationScore(tuple(verdicts), drawn.places))


@dataclass(frozen=True)
class Aimed:
    """Games that a model's tests lack.

    Attributes:
        trajectories: the chosen games, the most useful first, numbered from 0.
        choices: why each was chosen; branches and mutants by their numbers in the lists below.
        branches: all branches of the model.
        missed: those that the recorded games do not reach.
        survivors: mutants that the recorded games do not catch, as far as they were put to the candidates.
        candidates: how many games were looked at.
    """

    trajectories: tuple[Trajectory, ...]
    choices: tuple[Choice, ...]
    branches: tuple[Branch, ...]
    missed: tuple[Branch, ...]
    survivors: tuple[Verdict, ...]
    candidates: int


@dataclass(frozen=True)
class Aim:
    """What games are sought.

    Attributes:
        model: folder of a run, or of a model.
        games: at most so many are chosen.
        candidates: so many are played, by random players and by searches on the true game.
        mutants: so many of the model's are drawn.
    """

    model: Path
    games: int
    candidates: int
    mutants: int = MUTANTS


def aimed(
    aim: Aim,
    game_id: str,
    options: ScoreOptions,
    on_stage: Callable[[str], None] = lambda text: None,
    progress: Progress | None = None,
) -> Aimed:
    """Plays candidate games and chooses those that reach what the model's tests do not.

    Args:
        aim: what is sought.
        game_id: of the true game.
        options: seed and workers.
        on_stage: told in words what begins.
        progress: told after every mutant of each stage.

    Raises:
        UsageError: the model is of another game, of no registered one, or does not pass its own tests.
        TesterError: the sandbox failed again and again.
    """
    bundle = load_bundle(aim.model)
    if bundle.game_info.id != game_id:
        raise UsageError(f"{aim.model} holds a model of {bundle.game_info.id}, not of {game_id}; name that game.")
    inputs = origins.of_model(aim.model, bundle)
    if inputs.game is None:
        raise UsageError(f"{game_id} is no registered game: nobody can play it by its true rules.")
    on_stage("testing mutants on the recorded games")
    quality = measure(bundle, inputs, aim.mutants, options, progress)
    if quality.failed is not None:
        raise UsageError(
            f"The model fails {quality.failed} of its own tests: resume its synthesis before you seek further games."
        )
    on_stage("playing candidate games")
    seed = game_seed(options.seed, AIM_SEED_OFFSET)
    candidates = collect_mixed(inputs.game, aim.candidates, seed, standard_mixture(inputs.game))
    survivors = quality.score.survivors[:SURVIVORS]
    on_stage("testing mutants on the candidate games")
    # One history a decision: what tells a mutant from the model is hardly ever in the fifth.
    tests = replace(build_options(inputs, False, HiddenInformation.of(bundle)), samples=1)
    mutants = [verdict.mutant for verdict in survivors]
    sandbox = Sandbox(level=shipped.level_of([bundle.hash]))
    finds = aimed_games.explore(bundle.program(), mutants, candidates, sandbox, tests, options, progress)
    choices = aimed_games.rank(finds, quality.coverage.taken, aim.games)
    return Aimed(
        trajectories=_numbered(candidates, choices),
        choices=tuple(choices),
        branches=quality.coverage.branches,
        missed=tuple(quality.coverage.missed),
        survivors=tuple(survivors),
        candidates=len(candidates),
    )


def _numbered(candidates: Sequence[Trajectory], choices: Sequence[Choice]) -> tuple[Trajectory, ...]:
    return tuple(replace(candidates[choice.index], index=number) for number, choice in enumerate(choices))
