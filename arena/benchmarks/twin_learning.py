"""`cwm benchmark twin`: decisions a second of PPO with its updates, on a twin and on the model's worker, in turn."""

import time
from collections.abc import Iterator
from typing import Final

import numpy as np

from arena.benchmarks.measurement import Measurement
from arena.training_on_models.lesson import Lesson
from arena.training_on_models.settings import PpoSettings
from arena.training_on_models.training import network_config
from arena.training_on_twins.learning import SeatTask
from arena.training_on_twins.process import LearningTwin
from cwm.model.bundle import ModelBundle
from cwm.model.environment import training_limits
from cwm.sandbox.parent.host import Sandbox
from cwm.twins.stored import StoredTwin
from search.learn.networks.actor_critic import ActorCritic
from search.learn.ppo.host_play import Arrived
from search.learn.ppo.host_training import HostTrainer

PAIRS: Final = 3
TWIN_S: Final = 3.0
MANY_UPDATES: Final = 1_000_000


def run(bundle: ModelBundle, twin: StoredTwin, lanes: int) -> Iterator[Measurement]:
    """Yields decisions a second with the paper's settings, and with more games at once on the twin.

    Args:
        bundle: the model.
        twin: its own.
        lanes: games at once in place of the paper's 50; a multiple of ten is taken.
    """
    settings = PpoSettings(max_actions=500)
    with _Worker(bundle, twin, settings) as worker, _learning(bundle, twin, settings) as learning:
        pairs = [(_rate(learning), worker.rate()) for _ in range(PAIRS)]
    rates, others = (float(np.median(side)) for side in zip(*pairs, strict=True))
    ratio = float(np.median([own / other for own, other in pairs]))
    name, note = f"twin/{bundle.info['id']}/ppo", f"the paper's network and settings, {settings.environments} games"
    yield Measurement(name, rates, "decisions/s", others, ratio, f"{note}, with updates; baseline: in the worker")
    more = PpoSettings(environments=max(10, lanes // 10 * 10), max_actions=500)
    with _learning(bundle, twin, more) as learning:
        rate = float(np.median([_rate(learning) for _ in range(PAIRS)]))
    note = f"the same with {more.environments:,} games at once"
    yield Measurement(f"{name}/{more.environments}", rate, "decisions/s", others, rate / others, note)


def _learning(bundle: ModelBundle, twin: StoredTwin, settings: PpoSettings) -> LearningTwin:
    network = network_config(bundle.game_info.perfect_information, settings.hidden)
    learning = LearningTwin(twin.traced, SeatTask(network, settings.ppo(), settings.max_actions))
    learning.begin(seat=0, seed=0)
    # The first update is compiled.
    learning.run(1, 0.0)
    return learning


def _rate(learning: LearningTwin) -> float:
    lot = learning.run(MANY_UPDATES, TWIN_S)
    return len(lot.losses) * learning.task.steps_per_update / lot.seconds


class _Worker:
    """A training in the model's worker, with the twin's vectors and actions."""

    def __init__(self, bundle: ModelBundle, twin: StoredTwin, settings: PpoSettings) -> None:
        task = Lesson(bundle, 0, twin.traced.form.actions, {"schema": twin.schema}, {})
        self._settings = settings
        self._games = task.environment(settings, 0, Sandbox(training_limits()))
        network = network_config(bundle.game_info.perfect_information, settings.hidden)
        self._trainer = HostTrainer(ActorCritic(network, len(task.actions), rank=1), settings.ppo())
        self._state = self._trainer.init(0, self._games.width)
        self._arrived: Arrived = self._games.begin()

    def rate(self) -> float:
        """Returns decisions a second of one update."""
        began = time.perf_counter()
        rollout = self._trainer.play(self._state, self._games, self._arrived)
        self._state, losses = self._trainer.learn(self._state, rollout)
        losses.total.block_until_ready()
        self._arrived = rollout.arrived
        return self._settings.ppo().steps_per_update / (time.perf_counter() - began)

    def __enter__(self) -> "_Worker":
        # The first update is compiled.
        self.rate()
        return self

    def __exit__(self, *_: object) -> None:
        self._games.close()
