"""Trains a recipe with several seeds at once: resumable to the bit, over as many short runs as it takes."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import jax
import numpy as np

from arena.baselines.environments import training_env
from arena.baselines.recipes import Recipe
from arena.baselines.training_log import TrainingLog
from cwm.llm.files import write_whole
from games.batched.wrappers import Episodes, metrics
from search.learn import checkpoint
from search.learn.errors import LearnError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.training import Trainer, TrainingState, UpdateReport

RUN: Final = "training.json"
CHECKPOINT_SECONDS: Final = 60.0
"""So much work is lost at most when a process is killed."""
REPORTS: Final = 200
"""A training reports about so many times."""


class TrainingError(LearnError):
    """A training cannot go on as asked; the message says why."""


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained and where.

    Attributes:
        recipe: method and settings.
        seeds: one policy each, trained side by side.
        folder: keeps everything.
        devices: accelerators that share the games.
    """

    recipe: Recipe
    seeds: tuple[int, ...]
    folder: Path
    devices: int = 1


class Standing(NamedTuple):
    """How far a training is.

    Attributes:
        steps: environment steps of every policy so far.
        total: of the whole training.
        steps_per_second: of all policies together, in the last report.
        reports: the last numbers of every seed, by name.
    """

    steps: int
    total: int
    steps_per_second: float
    reports: list[dict[str, float | None]]


def trainer_of(recipe: Recipe, devices: int = 1) -> Trainer:
    """Returns the trainer of a recipe whose players all learn."""
    env = training_env(recipe)
    network = ActorCritic(recipe.network, env.num_actions)
    return Trainer(lambda _: env, network, recipe.ppo, devices=devices)


def train(plan: TrainingPlan, stop_after: float | None, on_report: Callable[[Standing], None]) -> bool:
    """Trains on from where the folder stands.

    Args:
        plan: what is trained.
        stop_after: seconds after which to stop and keep the state; None: to the end.
        on_report: told after every report.

    Returns:
        Whether the training is finished; its policies then stand in `NAME-sSEED` folders.

    Raises:
        TrainingError: the folder holds another training.
        CheckpointError: its state cannot be read.
    """
    _claim(plan)
    trainer = trainer_of(plan.recipe, plan.devices)
    state = _restore(plan, trainer)
    total = plan.recipe.ppo.updates
    each = max(1, total // REPORTS)
    began = saved = time.monotonic()
    done = _updates(state)
    with TrainingLog(plan.folder, done * plan.recipe.ppo.steps_per_update) as log:
        try:
            while done < total:
                count = min(each, total - done)
                before = time.monotonic()
                state, report = trainer.run(state, count)
                done += count
                found = _numbers(report)
                rate = count * plan.recipe.ppo.steps_per_update * len(plan.seeds) / (time.monotonic() - before)
                steps = done * plan.recipe.ppo.steps_per_update
                log.report(plan.seeds, steps, [{**one, "steps_per_second": rate} for one in found])
                on_report(Standing(steps, total * plan.recipe.ppo.steps_per_update, rate, found))
                now = time.monotonic()
                if now - saved > CHECKPOINT_SECONDS:
                    _save(plan, state)
                    saved = now
                if stop_after is not None and now - began > stop_after:
                    break
        finally:
            _save(plan, state)
    if done >= total:
        export(plan, state)
    return done >= total


def export(plan: TrainingPlan, state: TrainingState, half: bool = False) -> list[Path]:
    """Writes one policy a seed and returns their folders."""
    folders = []
    for index, seed in enumerate(plan.seeds):
        name = f"{plan.recipe.name}-s{seed}"
        params = jax.tree.map(lambda leaf, index=index: np.asarray(leaf[index]), state.learner.params)
        folders.append(plan.folder / name)
        checkpoint.save_policy(folders[-1], params, about(plan.recipe, name, seed, _updates(state)), half)
    return folders


def about(recipe: Recipe, name: str, seed: int, updates: int) -> dict[str, Any]:
    """Returns what a checkpoint says of itself."""
    data = recipe.to_json()
    return {
        "name": name,
        "game": recipe.game,
        "view": recipe.view,
        "method": recipe.name,
        "scale": recipe.scale,
        "seed": seed,
        "steps": updates * recipe.ppo.steps_per_update,
        "network": data["network"],
        "ppo": data["ppo"],
    }


def read_plan(folder: Path) -> tuple[Recipe, tuple[int, ...]]:
    """Reads which training a folder holds.

    Raises:
        TrainingError: it holds none.
    """
    try:
        data = json.loads((folder / RUN).read_text())
        return Recipe.from_json(data["recipe"]), tuple(data["seeds"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{folder} holds no training ({error}): give the folder of one.") from error


def _claim(plan: TrainingPlan) -> None:
    wanted = {"recipe": plan.recipe.to_json(), "seeds": list(plan.seeds)}
    path = plan.folder / RUN
    if not path.exists():
        plan.folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(wanted, indent=2) + "\n")
        return
    recipe, seeds = read_plan(plan.folder)
    if (recipe, seeds) != (plan.recipe, plan.seeds):
        raise TrainingError(
            f"{plan.folder} holds another training ({recipe.game}, {recipe.name}, seeds {', '.join(map(str, seeds))}, "
            "or other settings): go on with the settings it began with, or choose another folder."
        )


def _restore(plan: TrainingPlan, trainer: Trainer) -> TrainingState:
    state = trainer.init(list(plan.seeds))
    if not checkpoint.has_training(plan.folder):
        return state
    restored: TrainingState = checkpoint.load_training(plan.folder, state)
    return restored


def _save(plan: TrainingPlan, state: TrainingState) -> None:
    checkpoint.save_training(plan.folder, state, {"updates": _updates(state)})


def _updates(state: TrainingState) -> int:
    return int(np.asarray(state.updates).reshape(-1)[0])


def _numbers(report: UpdateReport) -> list[dict[str, float | None]]:
    """Returns the numbers of every seed: the paper's metrics over all games that ended, and mean losses."""
    found = []
    for index in range(np.asarray(report.shaping).shape[0]):
        episodes = Episodes(*(np.asarray(value)[index].sum(axis=0) for value in report.episodes))
        means = {name: float(np.asarray(value)[index].mean()) for name, value in report.losses._asdict().items()}
        found.append(metrics(episodes) | means | {"shaping": float(np.asarray(report.shaping)[index, -1])})
    return found
