"""Rebuilds the trained tables of the Yōkai Learning Environment paper, row by row, each beside the paper's figures."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.papers.yokai.published import rows as paper_rows
from arena.papers.yokai.published.rows import PaperRow
from arena.policy_play import cross_play
from arena.policy_play.method_figures import MethodFigures
from arena.training import method_training, training_log, training_run
from arena.training.training_run import Standing, TrainingPlan
from search.learn import checkpoint


@dataclass(frozen=True)
class TablePlan:
    """How a table is rebuilt.

    Attributes:
        table: its number in the paper.
        folder: keeps the trainings, one folder a row.
        seeds: of every row.
        scale: whose settings.
        changed: settings of PPO that differ, e.g. `total_steps`.
        games: of a seating, in the evaluation.
        game: plays every row on this game instead of the paper's; None for the paper's.
    """

    table: int
    folder: Path
    seeds: tuple[int, ...]
    scale: str
    changed: dict[str, Any]
    games: int
    game: str | None = None

    def rows(self) -> list[PaperRow]:
        """Returns the rows; with a game of one's own, those of two players once."""
        every = paper_rows.rows(self.table)
        if self.game is None:
            return list(every)
        return [replace(row, game=self.game) for row in every if row.game == every[0].game]

    def training(self, row: PaperRow) -> TrainingPlan:
        """Returns the training of a row."""
        return TrainingPlan(row.recipe(self.scale, self.changed), self.seeds, self.folder / row.folder)


@dataclass(frozen=True)
class RowResult:
    """What came of a row.

    Attributes:
        row: the row.
        steps: environment steps of every seed so far.
        total: of the whole training.
        figures: over seeds; None before the training is finished.
    """

    row: PaperRow
    steps: int
    total: int
    figures: MethodFigures | None


def train(plan: TablePlan, stop_after: float | None, on_report: Callable[[PaperRow, Standing], None]) -> bool:
    """Trains what is missing, one row after another; returns whether all rows are finished.

    Args:
        plan: the table.
        stop_after: seconds; the next run goes on.
        on_report: told after every report.

    Raises:
        TrainingError: the folder of a row holds another training.
        LearnError: the settings do not fit.
    """
    _check(plan)
    end = None if stop_after is None else time.monotonic() + stop_after
    for row in plan.rows():
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            return False
        training = plan.training(row)
        if not _finished(training) and not method_training.train(
            training,
            left,
            lambda standing, row=row: on_report(row, standing),  # type: ignore[misc]
        ):
            return False
    return True


def results(plan: TablePlan, seed: int = 0) -> list[RowResult]:
    """Returns every row's figures: those of finished trainings are played, `plan.games` games a seating.

    Raises:
        TrainingError: the folder of a row holds another training, whose figures are none of this plan.
    """
    _check(plan)
    found = []
    for row in plan.rows():
        training = plan.training(row)
        figures = _evaluated(training, plan.games, seed) if _finished(training) else None
        total = training.recipe.ppo.updates * training.recipe.ppo.steps_per_update
        found.append(RowResult(row, _steps(training), total, figures))
    return found


def _check(plan: TablePlan) -> None:
    for row in plan.rows():
        training_run.check(plan.training(row))


def _steps(training: TrainingPlan) -> int:
    """Returns how far every policy is; those that are trained one after the other report in folders of their own."""
    together = training_log.read(training.folder)
    apart = [training_log.read(path) for path in _policies(training)]
    return min(
        max((report["steps"] for report in reports), default=0) for reports in ([together] if together else apart)
    )


def _evaluated(training: TrainingPlan, games: int, seed: int) -> MethodFigures:
    policies = cross_play.load_all(training.recipe.game, [str(path) for path in _policies(training)])
    return cross_play.run(policies, games, seed).methods[0]


def _finished(training: TrainingPlan) -> bool:
    return all((path / checkpoint.ABOUT).exists() for path in _policies(training))


def _policies(training: TrainingPlan) -> Sequence[Path]:
    return [training.folder / f"{training.recipe.name}-s{seed}" for seed in training.seeds]
