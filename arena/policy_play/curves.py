"""Self-play and cross-play along trainings: what policies that were kept on the way reach, by environment steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from arena.checkpoints import on_game
from arena.checkpoints.methods import RESPONSES
from arena.checkpoints.on_game import LearnedPolicy
from arena.policy_play import cross_play
from arena.policy_play.cross_play import GAMES, OnSeating, PolicyTable
from arena.policy_play.curve_figures import CurvePoint, LearningCurves
from arena.policy_play.method_figures import method_figures
from arena.policy_play.played_lineups import Seating, Tally
from arena.training import training_run
from search.learn import checkpoint
from search.learn.errors import CheckpointError

Age: TypeAlias = tuple[str, int]
"""A method, and environment steps."""


def run(
    ages: Mapping[Age, Sequence[LearnedPolicy]],
    games: int = GAMES,
    seed: int = 0,
    greedy: bool = False,
    on_seating: OnSeating | None = None,
) -> LearningCurves:
    """Plays the policies of each training at each age with themselves, and those of its seeds with each other.

    Args:
        ages: policies of one game, as `load_all` returns them.
        games: of a seating; on the same deals at every age.
        seed: of the deals, of what policies draw, and of the choice of seatings.
        greedy: take each policy's likeliest action.
        on_seating: told after each.
    """
    chosen = [policy for group in ages.values() for policy in group]
    # What is drawn depends on who plays, not on where the folders of several trainings lie.
    drawn_as = {policy.name: f"{policy.about['name']}@{policy.about['steps']}" for policy in chosen}
    table = PolicyTable(chosen)
    evaluator = table.evaluator(greedy)
    deals = table.deals(games, seed)
    groups = {age: {age[0]: [policy.name for policy in group]} for age, group in ages.items()}
    planned = {age: cross_play.seatings(group, table.env.num_players, seed) for age, group in groups.items()}
    total, done = sum(map(len, planned.values())), 0
    methods: dict[str, tuple[CurvePoint, ...]] = {}
    for age, every in planned.items():
        played: dict[Seating, Tally] = {}
        for seating in every:
            found = table.play(evaluator, seating, deals, seed, [drawn_as[name] for name in seating])
            played[seating] = cross_play.tally(found)
            done += 1
            if on_seating is not None:
                on_seating(done, total)
        method, steps = age
        point = CurvePoint(steps, method_figures(played, groups[age])[0])
        methods[method] = (*methods.get(method, ()), point)
    settings = {"games": games, "seed": seed, "greedy": greedy}
    return LearningCurves(chosen[0].game, methods, settings)


def load_all(folders: Sequence[Path]) -> dict[Age, list[LearnedPolicy]]:
    """Reads the policies of trainings, by method and environment steps, in the order of the steps.

    Where several trainings are of one method, the names of their folders tell them apart.

    Args:
        folders: of trainings of one game, each with policies that were kept on the way (`TrainingPlan.snapshots`).

    Raises:
        CheckpointError: a folder holds no such policies, or they are of several games.
        TrainingError: the description of a training is damaged.
    """
    each = {folder: [on_game.load(path) for path in _policies_in(folder)] for folder in dict.fromkeys(folders)}
    games = {policy.game for group in each.values() for policy in group}
    if len(games) > 1:
        raise CheckpointError(f"The trainings are of several games ({', '.join(sorted(games))}): give those of one.")
    trainings = Counter(method for group in each.values() for method in {policy.method for policy in group})
    found: dict[Age, list[LearnedPolicy]] = {}
    for folder, group in each.items():
        for policy in sorted(group, key=_steps):
            label = policy.method if trainings[policy.method] == 1 else f"{policy.method} in {folder}"
            steps = _steps(policy)
            found.setdefault((label, steps), []).append(replace(policy, name=f"{label}: {policy.name}@{steps}"))
    return found


def _policies_in(folder: Path) -> list[Path]:
    """Returns the folders of a training's policies, those kept on the way first.

    Raises:
        CheckpointError: there are none.
    """
    kept = sorted(path.parent for path in folder.glob(f"{training_run.SNAPSHOTS}/*/*/{checkpoint.ABOUT}"))
    ends = sorted(path.parent for path in folder.glob(f"*/{checkpoint.ABOUT}") if not cross_play.is_belief(path.parent))
    if not kept:
        _check_keeps(folder)
        raise CheckpointError(
            f"{folder} holds no policies that were kept on the way: give the folder of a training that was begun with "
            "the option `snapshots`, which keeps some."
        )
    return [*kept, *ends]


def _check_keeps(folder: Path) -> None:
    if not (folder / training_run.RUN).exists():
        return
    recipe, _ = training_run.read_plan(folder)
    if recipe.method in RESPONSES:
        raise CheckpointError(
            f"{folder} holds a training of `cwm train posg` ({RESPONSES[recipe.method]} on {recipe.game}), which keeps "
            "no policies on the way: give trainings of `cwm train baseline`; what its policies come to at the end with "
            "each other, `cwm posg payoffs` says."
        )


def _steps(policy: LearnedPolicy) -> int:
    steps = policy.about.get("steps")
    if type(steps) is not int:
        raise CheckpointError(
            f"The {checkpoint.ABOUT} of {policy.name} has the steps {steps!r}: expected a whole number; restore it."
        )
    return steps
