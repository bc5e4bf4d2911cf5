"""Off-Belief Learning of several seeds, one after the other, as one training.

Stages and policies are those of `off_belief_levels`; the folder of each stage also has its `metrics.jsonl`.
"""

import time
from types import TracebackType
from typing import Final, Self

from arena.training import off_belief_levels, training_run
from arena.training.off_belief_levels import LevelReport, LevelsPlan
from arena.training.recipes import belief_settings
from arena.training.time_limit import TimeLimit
from arena.training.training_log import TrainingLog
from arena.training.training_run import Listener, Standing, TrainingError, TrainingPlan
from search.learn.beliefs.hidden import HintedSlots
from search.learn.errors import OffBeliefError
from search.learn.methods.off_belief import HINTS_UNHEEDED

BELIEF: Final = "belief-"


def levels_plan(plan: TrainingPlan, seed: int) -> LevelsPlan:
    """Returns the levels of one seed."""
    belief, training = belief_settings(plan.recipe)
    return LevelsPlan(
        plan.recipe, seed, plan.folder, belief, training, plan.recipe.exact_belief, snapshots=plan.snapshots
    )


def stages(plan: TrainingPlan) -> dict[str, int]:
    """Returns the environment steps of every stage of a seed, in order."""
    recipe = plan.recipe
    of_belief = belief_settings(recipe)[1]
    found = {}
    for level in range(1, recipe.level + 1):
        if level > 1 or not recipe.exact_belief:
            found[f"{BELIEF}{level - 1}"] = of_belief.updates * of_belief.environments * of_belief.steps
        found[f"obl{level}"] = recipe.ppo.updates * recipe.ppo.steps_per_update
    return found


def train(plan: TrainingPlan, limit: TimeLimit, on_report: Listener) -> bool:
    """Trains on from where the folder stands; see `training_run.train`.

    Raises:
        TrainingError: the folder holds another training, or several devices were asked for.
        CheckpointError: its state cannot be read.
        OffBeliefError: the settings do not fit.
    """
    if plan.devices > 1:
        raise TrainingError(
            f"obl is trained on one accelerator, not on {plan.devices}: leave out the option `devices`."
        )
    hinted = isinstance(off_belief_levels.hidden_of(plan.recipe), HintedSlots)
    if hinted and not (plan.recipe.exact_belief and plan.recipe.level == 1):
        raise OffBeliefError(HINTS_UNHEEDED)
    with training_run.claimed(plan):
        for index, seed in enumerate(plan.seeds):
            if limit.is_up():
                return False
            with SeedReports(plan, index, on_report) as reports:
                if not off_belief_levels.train(levels_plan(plan, seed), limit, reports):
                    return False
    return True


class SeedReports:
    """Writes down how the stages of a seed go, and tells how far the whole training is; a context manager."""

    def __init__(self, plan: TrainingPlan, index: int, on_report: Listener) -> None:
        """Sets up the reports of the seed with that index."""
        self._seed = plan.seeds[index]
        self._folder = plan.folder
        self._stages = stages(plan)
        self._before = index * sum(self._stages.values())
        self._total = len(plan.seeds) * sum(self._stages.values())
        self._on_report = on_report
        self._log: TrainingLog | None = None
        self._last: tuple[int, float] | None = None

    def __call__(self, report: LevelReport) -> None:
        """Takes a report of a stage."""
        name = f"{report.stage}-s{self._seed}"
        steps = self._stages[report.stage] * report.updates // report.total
        now = time.monotonic()
        rate = None if self._last is None else (steps - self._last[0]) / (now - self._last[1])
        if self._log is None:
            (self._folder / name).mkdir(parents=True, exist_ok=True)
            # What was reported from here on, after the state was last kept, is reported anew.
            self._log = TrainingLog(self._folder / name, steps - 1)
        self._log.report([self._seed], steps, [{**report.numbers, "steps_per_second": rate}])
        order = list(self._stages)
        done = self._before + sum(self._stages[stage] for stage in order[: order.index(report.stage)])
        self._on_report(Standing(done + steps, self._total, rate or 0.0, [report.numbers], name))
        self._last = steps, now
        if report.updates == report.total:
            self._close()

    def _close(self) -> None:
        if self._log is not None:
            self._log.close()
        self._log, self._last = None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
