"""Trains agents for the seats of a model, several seeds each, and keeps the best of each seat."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.checkpoints.on_model import KIND
from arena.checkpoints.places import seat_folder
from arena.training_on_models import evaluation, lesson
from arena.training_on_models.lesson import Lesson
from arena.training_on_models.results import Results
from arena.training_on_models.settings import PpoSettings
from arena.training_on_models.training import Clock, OnProgress, Training
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox
from cwm.storage import stored_json
from cwm.storage.differences import differences
from cwm.storage.files import write_whole
from cwm.storage.keys import derive
from cwm.storage.lock import RunLock
from search.learn import checkpoint

ASKED: Final = "training.json"
LESSON: Final = "lesson.json"


@dataclass(frozen=True)
class Graduate:
    """The agents of one seat.

    Attributes:
        seat: theirs.
        folder: of the best one's checkpoint.
        best: its seed.
        results: on the model against random players, by seed.
        clock: seconds of the training in this process, summed over the seeds.
        actions: length of the action table.
        width: of an observation.
    """

    seat: int
    folder: Path
    best: int
    results: dict[int, Results]
    clock: Clock
    actions: int
    width: int

    def to_json(self) -> dict[str, Any]:
        return {
            "seat": self.seat,
            "folder": str(self.folder),
            "best_seed": self.best,
            "results": {str(seed): found.to_json() for seed, found in self.results.items()},
            "speed": self.clock.to_json(),
            "actions": self.actions,
            "observation_width": self.width,
        }


def train(
    bundle: ModelBundle,
    seats: Sequence[int],
    settings: PpoSettings,
    folder: Path,
    sandbox: Sandbox,
    on_stage: Callable[[str], None],
    on_progress: OnProgress,
) -> list[Graduate]:
    """Trains what is not trained yet.

    Args:
        bundle: the model.
        seats: to train for.
        settings: of the training; the same in every call on a folder.
        folder: keeps everything; made if it is missing.
        sandbox: whose limits and level hold.
        on_stage: told in words what begins.
        on_progress: told after every update.

    Raises:
        UsageError: the folder holds another training.
        RunLockedError: another process trains in it.
        ModelPlayError: the model failed or hit a limit.
        SandboxUnavailableError: no worker can be started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with RunLock(folder):
        _keep(folder, {"game": bundle.info["id"], "model": bundle.hash, "settings": settings.to_json()})
        return [_train_seat(bundle, seat, settings, folder, sandbox, on_stage, on_progress) for seat in seats]


def _keep(folder: Path, asked: dict[str, Any]) -> None:
    path = folder / ASKED
    if not path.exists():
        write_whole(path, json.dumps(asked, indent=1, sort_keys=True) + "\n")
        return
    changed = differences(stored_json.read(path, dict, UsageError, "use another folder"), asked)
    if changed:
        raise UsageError(f"{folder} was begun with other settings ({'; '.join(changed)}); use another folder.")


def _train_seat(
    bundle: ModelBundle,
    seat: int,
    settings: PpoSettings,
    folder: Path,
    sandbox: Sandbox,
    on_stage: Callable[[str], None],
    on_progress: OnProgress,
) -> Graduate:
    place = seat_folder(folder, seat)
    place.mkdir(exist_ok=True)
    task = _lesson(bundle, seat, settings, place, sandbox)
    found: dict[int, Results] = {}
    clock = Clock()
    for seed in range(settings.seeds):
        own = place / f"seed{seed}"
        if not (own / checkpoint.ABOUT).exists():
            on_stage(f"seat {seat}, seed {seed}: {settings.steps:,} agent steps")
            training = Training(task, settings, seed, own, sandbox)
            _finish(training, task, settings, seed, sandbox, on_progress)
            _add(clock, training.clock)
        found[seed] = _results(own)
    best = max(found, key=lambda seed: (found[seed].rank(bundle.game_info), -seed))
    _crown(place, best, found)
    width = checkpoint.load_about(place)["width"]
    return Graduate(seat, place, best, found, clock, len(task.actions), width)


def _finish(
    training: Training, task: Lesson, settings: PpoSettings, seed: int, sandbox: Sandbox, on_progress: OnProgress
) -> None:
    """Trains one agent to the end, judges it, and writes its policy, whose folder then counts as finished."""
    params = training.run(on_progress).learner.params
    with task.environment(settings, derive("model evaluation", task.seat), sandbox) as environment:
        width = environment.width
        found = evaluation.evaluate(training.policy, params, environment, settings.evaluation_games)
    about = {
        "kind": KIND,
        "game": task.bundle.info["id"],
        "info": task.bundle.info,
        "seat": task.seat,
        "view": task.bundle.game_info.views[0],
        "model": task.bundle.hash,
        "actions": list(task.actions),
        "vectors": task.vectors,
        "width": width,
        "network": training.network_config.to_json(),
        "steps": settings.ppo().updates * settings.ppo().steps_per_update,
        "seed": seed,
        "results": found.to_json(),
        "settings": settings.to_json(),
        "speed": training.clock.to_json(),
    }
    checkpoint.save_policy(training.folder, params, about)


def _lesson(bundle: ModelBundle, seat: int, settings: PpoSettings, place: Path, sandbox: Sandbox) -> Lesson:
    path = place / LESSON
    if not path.exists():
        made = lesson.prepare(bundle, seat, settings, sandbox)
        told = {"actions": list(made.actions), "vectors": made.vectors, "explored": made.explored}
        write_whole(path, json.dumps(told) + "\n")

    def lesson_of(stored: dict[str, Any]) -> Lesson:
        return Lesson(bundle, seat, tuple(stored["actions"]), stored["vectors"], stored["explored"])

    return stored_json.read(path, lesson_of, UsageError, f"delete {place} to train the seat anew")


def _results(folder: Path) -> Results:
    try:
        return Results(**checkpoint.load_about(folder)["results"])
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"{folder / checkpoint.ABOUT} is damaged ({error}); delete {folder} to train this agent anew."
        ) from error


def _crown(place: Path, best: int, found: dict[int, Results]) -> None:
    """Copies the best agent's policy to where the seat's is looked for, with what all came to."""
    own = place / f"seed{best}"
    about = checkpoint.load_about(own) | {"all_results": {str(seed): item.to_json() for seed, item in found.items()}}
    write_whole(place / checkpoint.POLICY, (own / checkpoint.POLICY).read_bytes())
    write_whole(place / checkpoint.ABOUT, json.dumps(about, indent=2) + "\n")


def _add(total: Clock, more: Clock) -> None:
    for name in vars(total):
        setattr(total, name, getattr(total, name) + getattr(more, name))
