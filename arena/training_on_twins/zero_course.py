"""Trains one policy for both seats of a model by AlphaZero on its twin."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import jax

from arena.checkpoints.on_model import ZERO
from arena.checkpoints.places import seat_folder
from arena.training_on_models.course import Made, about_policy, keep
from arena.training_on_models.lesson import Lesson
from arena.training_on_models.results import Results
from arena.training_on_models.training import Clock, OnProgress
from arena.training_on_twins.process import LearningTwin, Method
from arena.training_on_twins.teacher import Pupil
from arena.training_on_twins.zero import ZeroLearner, ZeroLosses, ZeroTask
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.storage.lock import RunLock
from cwm.twins.stored import StoredTwin
from games.api import Json
from search.learn import checkpoint

METHOD: Final = Method("arena.training_on_twins.zero_served", ZeroLearner, ZeroLosses._fields)
FOLDER: Final = "alphazero"
OPPOSED: Final = ("win_loss_draw", "zero_sum")


def train(
    bundle: ModelBundle,
    twin: StoredTwin,
    task: ZeroTask,
    seed: int,
    folder: Path,
    evaluation_games: int,
    on_progress: OnProgress,
) -> tuple[list[Results], Clock]:
    """Trains what is not trained yet, and returns the results of both seats against random players.

    Args:
        bundle: the model.
        twin: its own.
        task: settings, the same in every call on a folder.
        seed: of the policy.
        folder: keeps everything; made if it is missing.
        evaluation_games: for each seat.
        on_progress: told now and then.

    Raises:
        UsageError: the game is none for this method, or the folder holds another training.
        RunLockedError: another process trains in it.
        TwinProblemError: the process ended, or answered otherwise than it can; what was trained before is kept.
        SandboxUnavailableError: the process cannot be locked.
    """
    check(bundle, twin)
    if not task.updates:
        raise UsageError(f"{task.steps} steps are less than one update: give at least {task.steps_per_update}.")
    folder.mkdir(parents=True, exist_ok=True)
    told = {"game": bundle.info["id"], "model": bundle.hash, "twin": twin.hash, "method": ZERO, "seed": seed}
    facts: dict[str, Any] = told | {"settings": task.to_json(), "evaluation_games": evaluation_games}
    with RunLock(folder):
        keep(folder, facts)
        places = [seat_folder(folder, seat) for seat in range(2)]
        clock = Clock()
        if not all((place / checkpoint.ABOUT).exists() for place in places):
            clock = _trained(bundle, twin, task, seed, folder, evaluation_games, on_progress, facts)
        return [Results(**checkpoint.load_about(place)["results"]) for place in places], clock


def check(bundle: ModelBundle, twin: StoredTwin) -> None:
    """Refuses games whose search or whose values this method does not know.

    Raises:
        UsageError: there are not two players of opposed interests, something is hidden, or chance acts.
    """
    info = bundle.game_info
    fits = info.num_players == 2 and info.utility in OPPOSED and info.perfect_information
    if not fits or twin.traced.form.outcomes:
        raise UsageError(
            f"AlphaZero plays games of two players, one of whom wins what the other loses, without chance and "
            f"hidden information, and {info.id} is none: take `cwm train ppo`."
        )


def _trained(
    bundle: ModelBundle,
    twin: StoredTwin,
    task: ZeroTask,
    seed: int,
    folder: Path,
    evaluation_games: int,
    on_progress: OnProgress,
    facts: Mapping[str, Json],
) -> Clock:
    form = twin.traced.form
    with LearningTwin(twin.traced, task, METHOD) as process:
        pupil = Pupil(process, 0, seed, folder / FOLDER, facts)
        pupil.run(on_progress)
        params = jax.device_get(process.state().learner.params)
        made = Made(task.network, form.width, task.updates * task.steps_per_update, seed, task.to_json(), ZERO)
        for seat in range(2):
            lesson = Lesson(bundle, seat, form.actions, {"schema": twin.schema}, {})
            about = about_policy(lesson, made, process.evaluate(seat, evaluation_games), pupil.clock)
            checkpoint.save_policy(seat_folder(folder, seat), params, about | {"trained_on": {"twin": twin.hash}})
    return pupil.clock
