"""Trains agents for seats of a model on its twin: what one sees, writes down, and goes on from after a kill."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import jax
import numpy as np
from numpy.typing import NDArray

from arena.checkpoints import on_model
from arena.checkpoints.places import seat_folder
from arena.training_on_models import training
from arena.training_on_models.course import Made, about_policy
from arena.training_on_models.lesson import Lesson
from arena.training_on_models.settings import PpoSettings
from arena.training_on_models.training import METRICS, SAVE_S, Clock, OnProgress, TrainingProgress, network_config
from arena.training_on_twins.learning import ITSELF, POLICY, SeatTask
from arena.training_on_twins.process import LearningTwin, Lot
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.storage.files import json_line
from cwm.twins.stored import StoredTwin
from games.api import Json
from search.learn import checkpoint
from search.learn.networks.config import NetworkConfig
from search.learn.play import several_policies

LOT_S: Final = 2.0
"""Seconds between two messages of a training."""


@dataclass(frozen=True)
class FixedPolicies:
    """Trained policies that play the other seats, of several trainings, each one for every seat.

    Attributes:
        network: of all of them.
        params: stacked, by name, leaves [trainings * seats, ...].
        trainings: how many.
        content: hash of them.
    """

    network: NetworkConfig
    params: dict[str, NDArray[np.float32]]
    trainings: int
    content: str


def fixed_policies(folders: Sequence[Path], twin: StoredTwin) -> FixedPolicies:
    """Reads the policies that are to play the other seats of a twin's games.

    Args:
        folders: of trainings.
        twin: what is learned on.

    Raises:
        CheckpointError: there is none, or it is damaged.
        UsageError: one reads other vectors, plays other actions than the twin, or has another network than the others.
    """
    form = twin.traced.form
    places = [seat_folder(folder, seat) for folder in folders for seat in range(form.num_players)]
    policies = [on_model.load(place) for place in places]
    for place, policy in zip(places, policies, strict=True):
        if policy.about.get("vectors") != {"schema": twin.schema} or policy.actions != form.actions:
            raise UsageError(
                f"The policy in {place} reads other vectors or knows other actions than the twin: give one that was "
                "trained on this model's twin."
            )
        if policy.about["network"] != policies[0].about["network"]:
            raise UsageError(f"The policies in {place} and {places[0]} have different networks: give some of one kind.")
    digest = hashlib.sha256()
    for place in places:
        digest.update(hashlib.sha256((place / checkpoint.POLICY).read_bytes()).digest())
    params = several_policies.stacked([policy.params for policy in policies])
    network = NetworkConfig.from_json(policies[0].about["network"])
    return FixedPolicies(network, checkpoint.arrays_of(params), len(folders), digest.hexdigest())


class TwinTeacher:
    """Trains on the twin of a model; a context manager. The process starts when there is something to learn.

    Args:
        bundle: the model.
        twin: its own.
        settings: of the training.
        folder: of the whole training.
        others: who plays the other seats: `random` players, the learner `itself`, or fixed policies.
        on_progress: told now and then.
    """

    def __init__(
        self,
        bundle: ModelBundle,
        twin: StoredTwin,
        settings: PpoSettings,
        folder: Path,
        others: str | FixedPolicies,
        on_progress: OnProgress,
    ) -> None:
        policy = others if isinstance(others, FixedPolicies) else None
        self._bundle = bundle
        self._twin = twin
        self._settings = settings
        self._folder = folder
        self._others: dict[str, NDArray[np.float32]] = {}
        self._on_progress = on_progress
        self._process: LearningTwin | None = None
        told = POLICY if policy is not None else str(others)
        self._task = SeatTask(
            network_config(bundle.game_info.perfect_information, settings.hidden),
            settings.ppo(),
            settings.max_actions,
            told,
            None if policy is None else policy.network,
            1 if policy is None else policy.trainings,
        )
        if policy is not None:
            self._others = policy.params
        self.facts: Mapping[str, Json] = {"twin": twin.hash, "others": told if policy is None else policy.content}

    def lesson(self, seat: int, place: Path) -> Lesson:
        """See `Teacher`."""
        return Lesson(self._bundle, seat, self._twin.traced.form.actions, {"schema": self._twin.schema}, {})

    def teach(self, task: Lesson, seed: int, folder: Path) -> Clock:
        """See `Teacher`."""
        alone = self._task.others != ITSELF
        own = folder if alone else self._folder / ITSELF / f"seed{seed}"
        process = self._started()
        pupil = Pupil(process, task.seat, seed, own, self._facts_of(task.seat if alone else None, seed))
        pupil.run(self._on_progress)
        found = process.evaluate(task.seat, self._settings.evaluation_games)
        steps = self._task.updates * self._task.steps_per_update
        made = Made(self._task.network, self._twin.traced.form.width, steps, seed, self._settings.to_json())
        about = about_policy(task, made, found, pupil.clock)
        params = jax.device_get(process.state().learner.params)
        checkpoint.save_policy(folder, params, about | {"trained_on": dict(self.facts)})
        return pupil.clock

    def _facts_of(self, seat: int | None, seed: int) -> dict[str, Any]:
        told = {"model": self._bundle.hash, "seat": seat, "seed": seed} | dict(self.facts)
        return told | self._settings.to_json()

    def _started(self) -> LearningTwin:
        if self._process is None:
            self._process = LearningTwin(self._twin.traced, self._task, others=self._others)
        return self._process

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


class Pupil:
    """One agent in its training.

    Args:
        process: in which it learns.
        seat: its seat.
        seed: of it.
        folder: its checkpoints and metrics.
        facts: which training it is.
    """

    def __init__(self, process: LearningTwin, seat: int, seed: int, folder: Path, facts: Mapping[str, Any]) -> None:
        self.clock = Clock()
        self._process = process
        self._seat = seat
        self._seed = seed
        self._folder = folder
        self._facts = dict(facts)
        self._task = process.task

    def run(self, on_progress: OnProgress) -> None:
        """Trains to the end, from the last checkpoint if there is one; the process then holds the trained agent.

        Raises:
            TwinProblemError: the process ended, or answered otherwise than it can; what was trained before is kept.
            CheckpointError: the folder holds another training.
            LearnError: what it learns from cannot be learned; what was trained before is kept.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        done = self._begun()
        training.forget_after(self._folder, done)
        saved, first = time.monotonic(), True
        while done < self._task.updates:
            lot = self._process.run(self._task.updates - done, 0.0 if first else LOT_S)
            if not first:
                # The first update is compiled.
                self.clock.steps += len(lot.losses) * self._task.steps_per_update
                self.clock.update += lot.seconds
            self._note(done, lot)
            done, first = done + len(lot.losses), False
            on_progress(self._progress(done, lot))
            if time.monotonic() - saved > SAVE_S or done == self._task.updates:
                checkpoint.save_training(self._folder, self._process.state(), self._facts)
                saved = time.monotonic()

    def _begun(self) -> int:
        """Begins, or goes on, and returns how many updates were made."""
        if not checkpoint.has_training(self._folder):
            self._process.begin(self._seat, self._seed)
            return 0
        state = checkpoint.load_training(self._folder, self._process.shapes)
        self._process.resume(state)
        return int(state.updates)

    def _note(self, done: int, lot: Lot) -> None:
        with (self._folder / METRICS).open("a", encoding="utf-8") as stream:
            for place, losses in enumerate(lot.losses):
                update = done + place + 1
                line = {
                    "update": update,
                    "steps": update * self._task.steps_per_update,
                    "results": lot.results[place].to_json(),
                    "losses": losses,
                    "cut": lot.cut[place],
                }
                stream.write(json_line(line) + "\n")

    def _progress(self, done: int, lot: Lot) -> TrainingProgress:
        per_update = self._task.steps_per_update
        speed = self.clock.steps / self.clock.total if self.clock.steps else 0.0
        left = (self._task.updates - done) * per_update
        games = sum(results.games for results in lot.results)
        paid = sum(results.mean_return * results.games for results in lot.results)
        return TrainingProgress(
            seat=self._seat,
            seed=self._seed,
            steps=done * per_update,
            total=self._task.updates * per_update,
            steps_per_s=speed,
            left_s=left / speed if speed else 0.0,
            mean_return=paid / games if games else None,
        )
