"""Trains one agent at one seat of a model: play, learn, write down, and go on after a kill as if it had not been."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import jax

from arena.training_on_models import results
from arena.training_on_models.lesson import Lesson
from arena.training_on_models.settings import PpoSettings
from arena.training_on_models.tally import Account, TalliedGames
from cwm.model.environment import ModelEnvironment
from cwm.sandbox.parent.host import Sandbox
from cwm.storage.files import json_line, write_whole
from cwm.storage.keys import derive
from games.api import Json
from search.learn import checkpoint
from search.learn.errors import CheckpointError, LearnError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo import ppo
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.host_play import Arrived
from search.learn.ppo.host_training import HostState, HostTrainer

METRICS: Final = "metrics.jsonl"
GAMES: Final = "games-{updates}.json"
SAVE_S: Final = 60.0
"""Seconds between two checkpoints; when one is made changes no result."""


@dataclass(frozen=True)
class TrainingProgress:
    """How far a training has come.

    Attributes:
        seat: of the learner.
        seed: of this agent.
        steps: agent steps so far.
        total: agent steps of the whole training.
        steps_per_s: in this process so far.
        left_s: seconds until the training ends at this speed.
        mean_return: of the games that ended in the last update; None if none did.
    """

    seat: int
    seed: int
    steps: int
    total: int
    steps_per_s: float
    left_s: float
    mean_return: float | None


OnProgress: TypeAlias = Callable[[TrainingProgress], None]


def network_config(perfect_information: bool, hidden: int) -> NetworkConfig:
    """Returns the network of the CWM paper (appendix D.1): two layers, or a layer, a recurrent one and a layer."""
    core, layers = ("none", 1) if perfect_information else ("rnn", 0)
    return NetworkConfig(
        encoder="mlp",
        core=core,  # type: ignore[arg-type]
        hidden=hidden,
        filters=hidden,
        layers=layers,
        activation="tanh",
    )


@lru_cache(maxsize=4)
def _trainer(network: NetworkConfig, actions: int, config: PpoConfig) -> HostTrainer:
    """Returns what trains such agents: those of all seeds share what is compiled."""
    return HostTrainer(ActorCritic(network, actions, rank=1), config)


@dataclass
class Clock:
    """Seconds of a training in this process, by what they were spent on.

    Attributes:
        steps: agent steps that they were spent for.
        model: the model's own stepping.
        encoding: observations as vectors.
        transport: the rest of what the games took: frames, checks, waiting.
        policy: choosing actions.
        update: learning.
    """

    steps: int = 0
    model: float = 0.0
    encoding: float = 0.0
    transport: float = 0.0
    policy: float = 0.0
    update: float = 0.0

    @property
    def total(self) -> float:
        """All seconds."""
        return self.model + self.encoding + self.transport + self.policy + self.update

    def to_json(self) -> dict[str, float]:
        """Returns agent steps per second and the share of each."""
        names = ("model", "encoding", "transport", "policy", "update")
        total = self.total or 1.0
        return {"steps_per_s": self.steps / total} | {name: getattr(self, name) / total for name in names}


class Training:
    """One agent; see `run`.

    Args:
        lesson: model and seat.
        settings: of the training.
        seed: of this agent.
        folder: its checkpoints and metrics.
        sandbox: whose limits and level hold.
    """

    def __init__(self, lesson: Lesson, settings: PpoSettings, seed: int, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.network_config = network_config(lesson.bundle.game_info.perfect_information, settings.hidden)
        self.clock = Clock()
        self._lesson = lesson
        self._settings = settings
        self._seed = seed
        self._sandbox = sandbox
        self._config = settings.ppo()
        self._trainer = _trainer(self.network_config, len(lesson.actions), self._config)
        self.policy = self._trainer.policy

    def run(self, on_progress: OnProgress) -> HostState:
        """Trains to the end, from the last checkpoint if there is one.

        Raises:
            ModelPlayError: the model failed or hit a limit; what was trained before is kept.
            SandboxUnavailableError: the worker failed through no fault of the model.
            CheckpointError: the folder holds another training.
            LearnError: what it learns from cannot be learned; what was trained before is kept.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        seed = derive("model games", self._lesson.seat, self._seed)
        with self._lesson.environment(self._settings, seed, self._sandbox) as environment:
            state, snapshot = self._restored(environment.width)
            forget_after(self.folder, int(state.updates))
            if int(state.updates) < self._config.updates:
                state = self._go_on(state, environment, snapshot, on_progress)
        return state

    def _go_on(
        self, state: HostState, environment: ModelEnvironment, snapshot: Json, on_progress: OnProgress
    ) -> HostState:
        arrived: Arrived = environment.begin(snapshot)
        games = TalliedGames(environment)
        saved = time.monotonic()
        while (updates := int(state.updates)) < self._config.updates:
            began = time.perf_counter()
            rollout = self._trainer.play(state, games, arrived)
            played = time.perf_counter()
            state, losses = self._trainer.learn(state, rollout)
            told = {name: float(value) for name, value in jax.device_get(losses)._asdict().items()}
            ended = time.perf_counter()
            _check(told, updates + 1)
            arrived, account = rollout.arrived, games.taken()
            if updates:
                # The first update is compiled.
                self._count(account, rollout.games_s, played - began, ended - played)
            self._note(updates + 1, told, account)
            on_progress(self._progress(updates + 1, account))
            if time.monotonic() - saved > SAVE_S or updates + 1 == self._config.updates:
                taken, arrived = environment.renew()
                self._save(state, taken)
                saved = time.monotonic()
        return state

    def _count(self, account: Account, games_s: float, play_s: float, update_s: float) -> None:
        clock, inside = self.clock, sum(account.seconds.values())
        clock.steps += self._config.steps_per_update
        clock.model += account.seconds["model"]
        clock.encoding += account.seconds["encoding"]
        clock.transport += max(0.0, games_s - inside)
        clock.policy += play_s - games_s
        clock.update += update_s

    def _progress(self, updates: int, account: Account) -> TrainingProgress:
        per_update = self._config.steps_per_update
        speed = self.clock.steps / self.clock.total if self.clock.steps else 0.0
        left = (self._config.updates - updates) * per_update
        found = results.of_games(account.returns, self._lesson.seat)
        return TrainingProgress(
            seat=self._lesson.seat,
            seed=self._seed,
            steps=updates * per_update,
            total=self._config.updates * per_update,
            steps_per_s=speed,
            left_s=left / speed if speed else 0.0,
            mean_return=found.mean_return if found.games else None,
        )

    def _note(self, updates: int, losses: dict[str, float], account: Account) -> None:
        found = results.of_games(account.returns, self._lesson.seat)
        coefficient = float(ppo.annealed_entropy(self._trainer.config, jax.numpy.asarray(updates - 1)))
        line = {
            "update": updates,
            "steps": updates * self._config.steps_per_update,
            "results": found.to_json(),
            "losses": losses,
            "entropy_coefficient": coefficient,
            "model": account.to_json(),
        }
        with (self.folder / METRICS).open("a", encoding="utf-8") as stream:
            stream.write(json_line(line) + "\n")

    def _save(self, state: HostState, snapshot: Json) -> None:
        updates = int(state.updates)
        # The games first: the arrays name the update to which they belong.
        write_whole(self.folder / GAMES.format(updates=updates), json.dumps(snapshot))
        checkpoint.save_training(self.folder, state, self._about())
        for path in self.folder.glob(GAMES.format(updates="*")):
            if path.name != GAMES.format(updates=updates):
                path.unlink()

    def _restored(self, width: int) -> tuple[HostState, Json]:
        fresh = self._trainer.init(self._seed, width)
        if not checkpoint.has_training(self.folder):
            return fresh, None
        state: HostState = checkpoint.load_training(self.folder, fresh)
        path = self.folder / GAMES.format(updates=int(state.updates))
        try:
            return state, json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{path} cannot be read ({error}): delete {self.folder} to train anew.") from error

    def _about(self) -> dict[str, Any]:
        lesson = self._lesson
        return {"model": lesson.bundle.hash, "seat": lesson.seat, "seed": self._seed} | self._settings.to_json()


def forget_after(folder: Path, updates: int) -> None:
    """Drops metrics of updates that a kill took back.

    Args:
        folder: of the training.
        updates: that were kept.
    """
    path = folder / METRICS
    if not path.exists():
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    write_whole(path, "".join(line for line in lines if line.endswith("\n") and _update_of(line) <= updates))


def _check(losses: dict[str, float], updates: int) -> None:
    """Refuses to go on with parameters that are no numbers any more."""
    if not all(map(math.isfinite, losses.values())):
        raise LearnError(
            f"the losses of update {updates} are not finite: the model pays or shows numbers too large to learn from; "
            "what was trained before is kept."
        )


def _update_of(line: str) -> float:
    """Returns which update a line of metrics is of; infinity for one that is damaged."""
    try:
        return float(json.loads(line)["update"])
    except (ValueError, KeyError, TypeError):
        return math.inf
