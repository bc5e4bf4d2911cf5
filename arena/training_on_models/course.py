"""Trains agents for the seats of a model, several seeds each, and keeps the best of each seat."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

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
from games.api import Json
from search.learn import checkpoint
from search.learn.networks.config import NetworkConfig

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


class Teacher(Protocol):
    """How agents are trained: on the model in a worker, say."""

    @property
    def facts(self) -> Mapping[str, Json]:
        """What of it decides what is learned, beside the settings: a folder keeps it."""
        ...

    def lesson(self, seat: int, place: Path) -> Lesson:
        """Returns what is learned at a seat.

        Args:
            seat: of the learner.
            place: folder of the seat.
        """
        ...

    def teach(self, task: Lesson, seed: int, folder: Path) -> Clock:
        """Trains one agent to the end, judges it, and writes its policy, whose folder then counts as finished.

        Args:
            task: what is learned.
            seed: of the agent.
            folder: its own.

        Returns:
            What it took in this process.
        """
        ...


class WorkerTeacher:
    """Trains on a model in its worker.

    Args:
        bundle: the model.
        settings: of the training.
        sandbox: whose limits and level hold.
        on_progress: told after every update.
    """

    def __init__(self, bundle: ModelBundle, settings: PpoSettings, sandbox: Sandbox, on_progress: OnProgress) -> None:
        self.facts: Mapping[str, Json] = {}
        self._bundle = bundle
        self._settings = settings
        self._sandbox = sandbox
        self._on_progress = on_progress

    def lesson(self, seat: int, place: Path) -> Lesson:
        """See `Teacher`."""
        return _lesson(self._bundle, seat, self._settings, place, self._sandbox)

    def teach(self, task: Lesson, seed: int, folder: Path) -> Clock:
        """See `Teacher`."""
        training = Training(task, self._settings, seed, folder, self._sandbox)
        params = training.run(self._on_progress).learner.params
        with task.environment(self._settings, derive("model evaluation", task.seat), self._sandbox) as environment:
            width = environment.width
            found = evaluation.evaluate(training.policy, params, environment, self._settings.evaluation_games)
        ppo = self._settings.ppo()
        steps = ppo.updates * ppo.steps_per_update
        made = Made(training.network_config, width, steps, seed, self._settings.to_json())
        checkpoint.save_policy(folder, params, about_policy(task, made, found, training.clock))
        return training.clock


def train(
    bundle: ModelBundle,
    seats: Sequence[int],
    settings: PpoSettings,
    folder: Path,
    sandbox: Sandbox,
    on_stage: Callable[[str], None],
    on_progress: OnProgress,
) -> list[Graduate]:
    """Trains on a model in its worker what is not trained yet; see `train_with`.

    Args:
        bundle: the model.
        seats: to train for.
        settings: of the training; the same in every call on a folder.
        folder: keeps everything; made if it is missing.
        sandbox: whose limits and level hold.
        on_stage: told in words what begins.
        on_progress: told after every update.
    """
    return train_with(WorkerTeacher(bundle, settings, sandbox, on_progress), bundle, seats, settings, folder, on_stage)


def train_with(
    teacher: Teacher,
    bundle: ModelBundle,
    seats: Sequence[int],
    settings: PpoSettings,
    folder: Path,
    on_stage: Callable[[str], None],
) -> list[Graduate]:
    """Trains what is not trained yet.

    Args:
        teacher: trains each agent.
        bundle: the model.
        seats: to train for.
        settings: of the training; the same in every call on a folder.
        folder: keeps everything; made if it is missing.
        on_stage: told in words what begins.

    Raises:
        UsageError: the folder holds another training.
        RunLockedError: another process trains in it.
        ModelPlayError: the model failed or hit a limit.
        SandboxUnavailableError: no worker can be started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with RunLock(folder):
        asked = {"game": bundle.info["id"], "model": bundle.hash, "settings": settings.to_json()}
        keep(folder, asked | dict(teacher.facts))
        return [_train_seat(teacher, bundle, seat, settings, folder, on_stage) for seat in seats]


def begun_with(folder: Path) -> dict[str, Any] | None:
    """Returns what the training in a folder was begun with; None where there is none.

    Raises:
        UsageError: it is damaged.
    """
    path = folder / ASKED
    return stored_json.read(path, dict, UsageError, "use another folder") if path.exists() else None


def keep(folder: Path, asked: dict[str, Any]) -> None:
    """Writes down what a training was begun with, or refuses a folder that was begun with something else.

    Args:
        folder: of the training.
        asked: JSON.

    Raises:
        UsageError: the folder holds another training.
    """
    begun = begun_with(folder)
    if begun is None:
        write_whole(folder / ASKED, json.dumps(asked, indent=1, sort_keys=True) + "\n")
        return
    changed = differences(begun, asked)
    if changed:
        raise UsageError(f"{folder} was begun with other settings ({'; '.join(changed)}); use another folder.")


def _train_seat(
    teacher: Teacher,
    bundle: ModelBundle,
    seat: int,
    settings: PpoSettings,
    folder: Path,
    on_stage: Callable[[str], None],
) -> Graduate:
    place = seat_folder(folder, seat)
    place.mkdir(exist_ok=True)
    task = teacher.lesson(seat, place)
    found: dict[int, Results] = {}
    clock = Clock()
    for seed in range(settings.seeds):
        own = place / f"seed{seed}"
        if not (own / checkpoint.ABOUT).exists():
            on_stage(f"seat {seat}, seed {seed}: {settings.steps:,} agent steps")
            _add(clock, teacher.teach(task, seed, own))
        found[seed] = _results(own)
    best = max(found, key=lambda seed: (found[seed].rank(bundle.game_info), -seed))
    _crown(place, best, found)
    width = checkpoint.load_about(place)["width"]
    return Graduate(seat, place, best, found, clock, len(task.actions), width)


class Made(NamedTuple):
    """How a policy came about.

    Attributes:
        network: its own.
        width: of an observation.
        steps: decisions that it learned from.
        seed: of it.
        settings: of the training, JSON.
        kind: of the checkpoint.
    """

    network: NetworkConfig
    width: int
    steps: int
    seed: int
    settings: Mapping[str, Json]
    kind: str = KIND


def about_policy(task: Lesson, made: Made, found: Results, clock: Clock) -> dict[str, Any]:
    """Returns what a policy's `config.json` says of it.

    Args:
        task: what was learned.
        made: how.
        found: on the model against random players.
        clock: what the training took.
    """
    return {
        "kind": made.kind,
        "game": task.bundle.info["id"],
        "info": task.bundle.info,
        "seat": task.seat,
        "view": task.bundle.game_info.views[0],
        "model": task.bundle.hash,
        "actions": list(task.actions),
        "vectors": task.vectors,
        "width": made.width,
        "network": made.network.to_json(),
        "steps": made.steps,
        "seed": made.seed,
        "results": found.to_json(),
        "settings": dict(made.settings),
        "speed": clock.to_json(),
    }


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
