"""`cwm benchmark search`: simulations a second of our planners, beside OpenSpiel's Python bots on the same games."""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts as spiel_ismcts
from open_spiel.python.algorithms import mcts as spiel_mcts

from arena.benchmarks.measurement import Measurement, interleaved
from cwm.sandbox.api import Limits
from cwm.sandbox.host import Sandbox, Worker
from cwm.trajectories import Trajectory, game_seed, play, random_policy
from cwm.world_model import ModelBundle
from games import registry
from games.api import Game
from search import planner
from search.api import PlannerConfig, Position
from search.session import PAYLOAD

PAIRS = 20
GAMES_A_POSITION = 20
"""So many random games are played at most for each position."""
POSITIONS = 50
UNIT = "simulations/s"


@dataclass(frozen=True)
class Setting:
    """What is timed on one game: simulations a move, with one rollout a leaf."""

    game: str
    spiel: str
    simulations: int
    positions: int = POSITIONS
    pairs: int = PAIRS


SETTINGS = (
    Setting("tic_tac_toe", "tic_tac_toe", 200),
    Setting("connect_four", "connect_four", 100),
    Setting("leduc_poker", "leduc_poker", 100),
)
UCT = 2.0


@dataclass(frozen=True)
class Situation:
    """One decision point, as our planners on the true game, a model's worker and OpenSpiel's bots take it."""

    native: Any
    position: Position
    argument: dict[str, Any]


def situations(game: Game, count: int, seed: int) -> list[Situation]:
    """Returns `count` decision points of random games, each from a game of its own.

    A player has at least two legal actions at each: with one, our planners answer without a search, and would be
    credited with simulations that never ran.

    Raises:
        ValueError: too few of the random games hold such a point.
    """
    found: list[Situation] = []
    policies = [random_policy] * game.info.num_players
    for number in range(GAMES_A_POSITION * count):
        trajectory = play(game, policies, game_seed(seed, number), number)
        choices = [i for i, step in enumerate(trajectory.steps) if step.player >= 0 and len(step.legal_actions) > 1]
        if choices:
            found.append(_situation(game, trajectory, random.Random(f"{seed}/{number}").choice(choices)))
        if len(found) == count:
            return found
    raise ValueError(f"{game.info.id}: only {len(found)} of the {count} positions with two legal actions were met.")


def _situation(game: Game, trajectory: Trajectory, end: int) -> Situation:
    state = game.initial_state()
    for step in trajectory.steps[:end]:
        assert step.action is not None
        state = game.apply_action(state, step.action)
    step = trajectory.steps[end]
    history = trajectory.history(step.player, end)
    perfect = game.info.perfect_information
    return Situation(
        native=state,
        position=Position(step.player, history, state if perfect else None),
        argument={
            "player": step.player,
            "history": [list(pair) for pair in history],
            "state": step.state if perfect else None,
        },
    )


def one_rollout(game: Game, simulations: int) -> PlannerConfig:
    """Returns the planner's settings of this benchmark."""
    algorithm = "mcts" if game.info.perfect_information else "ismcts"
    return PlannerConfig(algorithm=algorithm, simulations=simulations, rollouts=1)  # type: ignore[arg-type]


def true_rate(game: Game, config: PlannerConfig, found: Sequence[Situation]) -> Callable[[], float]:
    """Returns a function that times our planner on the true game, a new one for each position."""

    def measure() -> float:
        begin = time.perf_counter()
        for number, situation in enumerate(found):
            planner.make(game, config).choose(situation.position, random.Random(number))
        return config.simulations * len(found) / (time.perf_counter() - begin)

    return measure


def model_rate(bundle: ModelBundle, config: PlannerConfig, found: Sequence[Situation]) -> Callable[[], float]:
    """Returns a function that times our planner inside a model's worker, by the worker's own clock.

    Every time it is called it starts a worker anew: what a program has cached is not carried over.
    """

    def measure() -> float:
        with open_model(bundle) as worker:
            reply = worker.payload(
                "search.session",
                "benchmark",
                {"config": config.to_json(), "positions": [situation.argument for situation in found]},
                seed=0,
                timeout_s=600.0,
            )
        if reply.failure is not None:
            raise RuntimeError(f"the model failed under the planner: {reply.outcome}: {reply.failure.message}")
        if reply.value["fallbacks"]:
            raise RuntimeError(f"the search on the model gave up at {reply.value['fallbacks']} positions")
        return float(reply.value["per_second"])

    return measure


def spiel_rate(spiel: pyspiel.Game, perfect: bool, simulations: int, found: Sequence[Situation]) -> Callable[[], float]:
    """Returns a function that times OpenSpiel's Python bot on OpenSpiel's C++ game, a new bot for each position."""

    def bot(number: int) -> Any:
        rng = np.random.RandomState(number)
        evaluator = spiel_mcts.RandomRolloutEvaluator(1, rng)
        if perfect:
            return spiel_mcts.MCTSBot(spiel, UCT, simulations, evaluator, solve=False, random_state=rng)
        return spiel_ismcts.ISMCTSBot(
            game=spiel, evaluator=evaluator, uct_c=UCT, max_simulations=simulations, random_state=rng
        )

    def measure() -> float:
        begin = time.perf_counter()
        for number, situation in enumerate(found):
            made = bot(number)
            (made.mcts_search if perfect else made.run_search)(situation.native)
        return simulations * len(found) / (time.perf_counter() - begin)

    return measure


def run(bundles: Mapping[str, ModelBundle], seed: int = 0) -> Iterator[Measurement]:
    """Yields the measurements, each when it is done.

    Args:
        bundles: a synthesised model by game; games without one are timed on the true game alone.
        seed: of the positions.
    """
    for setting in SETTINGS:
        yield from _against_spiel(setting, bundles.get(setting.game), seed)
    if "yokai-9c-2p" in bundles:
        yield from _time_a_move(bundles["yokai-9c-2p"], seed)


def _against_spiel(setting: Setting, bundle: ModelBundle | None, seed: int) -> Iterator[Measurement]:
    game = registry.make(setting.game)
    found = situations(game, setting.positions, seed)
    config = one_rollout(game, setting.simulations)
    spiel = pyspiel.load_game(setting.spiel)
    theirs = spiel_rate(spiel, game.info.perfect_information, setting.simulations, found)
    note = f"{setting.positions} positions, {setting.simulations} simulations, 1 rollout a leaf, {setting.pairs} pairs"
    ours = true_rate(game, config, found)
    yield interleaved(f"search/{setting.game}/true", UNIT, ours, theirs, setting.pairs, note)
    if bundle is not None:
        ours = model_rate(bundle, config, found)
        cold = f"{note}, a fresh worker for each"
        yield interleaved(f"search/{setting.game}/cwm", UNIT, ours, theirs, setting.pairs, cold)


def open_model(bundle: ModelBundle, limits: Limits = Limits()) -> Worker:  # noqa: B008
    """Starts a worker with a model and the planners.

    Raises:
        RuntimeError: the model does not load.
    """
    worker = Sandbox(limits, payload=PAYLOAD).start(bundle.program(), seed=0)
    if worker.loaded.failure is not None:
        worker.close()
        raise RuntimeError(f"the model does not load: {worker.loaded.failure.message}")
    return worker


def _time_a_move(bundle: ModelBundle, seed: int) -> Iterator[Measurement]:
    """Seconds a move on yokai-9c-2p: medians over positions, each in a worker of its own."""
    game = registry.make("yokai-9c-2p")
    found = situations(game, POSITIONS, seed)
    base = PlannerConfig(
        algorithm="ismcts",
        widening_coefficient=3.0,
        simulations=3000,
        leaf="value" if bundle.value_source else "rollout",
    )
    settings = [("value", base)] if bundle.value_source else []
    settings.append(("rollouts", replace(base, simulations=1000, leaf="rollout", rollouts=10)))
    for name, config in settings:
        times = [config.simulations / model_rate(bundle, config, [situation])() for situation in found]
        leaf = "value function" if config.leaf == "value" else f"{config.rollouts} rollouts"
        yield Measurement(
            name=f"search/yokai-9c-2p/move/{name}",
            value=statistics.median(times),
            unit="s",
            note=f"{config.simulations} simulations, {leaf}, {len(found)} positions, a fresh worker for each, slowest "
            f"{max(times):.2f} s",
        )
