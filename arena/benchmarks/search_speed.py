"""`cwm benchmark search`: simulations a second of our planners, beside OpenSpiel's Python bots on the same games."""

import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts as spiel_ismcts
from open_spiel.python.algorithms import mcts as spiel_mcts

from arena.benchmarks.measurement import Measurement
from arena.figures.sheet import Sheet
from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox, Worker
from cwm.sandbox.wire.api import Limits
from cwm.trajectories.recorded import Trajectory, game_seed, play, random_policy
from games import registry
from games.adapters import spiel_game
from games.adapters.open_spiel import OpenSpielGame
from games.api import Action, Game
from search import planner, session
from search.api import PlannerConfig, Position

GAMES_A_POSITION = 20
"""So many random games are played at most for each position."""
POSITIONS = 50
UNIT = "simulations/s"
"""Of CPU time, in each of the three: other processes of a busy machine do not change it."""
LEAST_S = 0.4
"""So long each of the three is timed in a round, at least: a worker's clock goes in steps of some milliseconds."""
MOST_WORKERS = 40
MOST_PASSES = 100_000
YOKAI = "yokai-9c-2p"
SHORT_NAME = "cwm_"
"""Our own games are registered with OpenSpiel under their ids with this before it."""


@dataclass(frozen=True)
class SearchSetting:
    """How a game is timed: simulations a move with one rollout a leaf, positions, and rounds of all three in turn."""

    game: str
    simulations: int
    positions: int
    rounds: int


SETTINGS = (
    SearchSetting("tic_tac_toe", 200, POSITIONS, 20),
    SearchSetting("connect_four", 100, POSITIONS, 20),
    SearchSetting("mnk", 50, 20, 10),
    SearchSetting("army5x5a", 20, 10, 5),
    SearchSetting("backgammon", 20, 5, 5),
    SearchSetting("kuhn_poker", 100, POSITIONS, 20),
    SearchSetting("leduc_poker", 100, POSITIONS, 20),
    SearchSetting("bargaining", 50, 20, 5),
    SearchSetting("gin_rummy", 20, 5, 5),
    SearchSetting("quadranto", 50, 10, 5),
    SearchSetting("hand_of_war", 50, 10, 5),
    SearchSetting(YOKAI, 50, 10, 5),
)
OTHER = (50, 10, 5)
"""Simulations, positions and rounds of a game that is not in the list."""
UCT = 2.0


@dataclass(frozen=True)
class SearchSpeed:
    """Simulations a second of three searches of one game: medians over rounds in which each had its turn.

    Attributes:
        game: its id.
        cwm: our planner in the worker beside the synthesised model, None without one.
        true: our planner on the true game.
        bot: OpenSpiel's Python bot, on OpenSpiel's own game or on ours as registered with it.
        cwm_ratio: median over the rounds of `cwm` / `bot`.
        true_ratio: median over the rounds of `true` / `bot`.
        bot_game: what the bot plays.
        note: settings.
    """

    game: str
    cwm: float | None
    true: float
    bot: float
    cwm_ratio: float | None
    true_ratio: float
    bot_game: str
    note: str

    def measurements(self) -> list[Measurement]:
        """Returns one record for the true game and, where there is one, one for the model."""
        note = f"{self.note}; the bot plays {self.bot_game}"
        found = [Measurement(f"search/{self.game}/true", self.true, UNIT, self.bot, self.true_ratio, note)]
        if self.cwm is not None:
            note = f"{note}, a fresh worker for each"
            found.append(Measurement(f"search/{self.game}/cwm", self.cwm, UNIT, self.bot, self.cwm_ratio, note))
        return found


@dataclass(frozen=True)
class Situation:
    """One decision point, as our planners on the true game, a model's worker and OpenSpiel's bots take it."""

    native: Any
    actions: tuple[Action, ...]
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
    actions = tuple(str(step.action) for step in trajectory.steps[:end])
    for action in actions:
        state = game.apply_action(state, action)
    step = trajectory.steps[end]
    history = trajectory.history(step.player, end)
    perfect = game.info.perfect_information
    return Situation(
        native=state,
        actions=actions,
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
        begin, passes = time.process_time(), 0
        while not passes or time.process_time() - begin < LEAST_S:
            passes += 1
            for number, situation in enumerate(found):
                planner.make(game, config).choose(situation.position, random.Random(f"{number}/{passes}"))
        return passes * config.simulations * len(found) / (time.process_time() - begin)

    return measure


def model_rate(bundle: ModelBundle, config: PlannerConfig, found: Sequence[Situation]) -> Callable[[], float]:
    """Returns a function that times our planner inside a model's worker, by the worker's own CPU time.

    It starts workers anew, one after the other until the time is long enough: what a program has cached is not carried
    over.
    """
    argument = {"config": config.to_json(), "positions": [situation.argument for situation in found]}

    def measure() -> float:
        simulations, seconds, workers = 0, 0.0, 0
        while seconds < LEAST_S and workers < MOST_WORKERS:
            with open_model(bundle) as worker:
                reply = worker.payload("search.session", "benchmark", argument, seed=workers, timeout_s=600.0)
            if reply.failure is not None:
                raise RuntimeError(f"the model failed under the planner: {reply.outcome}: {reply.failure.message}")
            if reply.value["fallbacks"]:
                raise RuntimeError(f"the search on the model gave up at {reply.value['fallbacks']} positions")
            simulations += int(reply.value["simulations"])
            seconds += float(reply.value["seconds"])
            workers += 1
        return simulations / max(seconds, session.TICK_S)

    return measure


def spiel_rate(game: Game, simulations: int, found: Sequence[Situation]) -> Callable[[], float]:
    """Returns a function that times OpenSpiel's Python bot, a new bot for each position.

    Args:
        game: the bot plays OpenSpiel's own game behind it, or, where there is none, this one as registered with
            OpenSpiel.
        simulations: a move.
        found: the positions.
    """
    perfect = game.info.perfect_information
    spiel, states = spiel_states(game, found)

    def bot(number: int) -> Any:
        rng = np.random.RandomState(number)
        evaluator = spiel_mcts.RandomRolloutEvaluator(1, rng)
        if perfect:
            return spiel_mcts.MCTSBot(spiel, UCT, simulations, evaluator, solve=False, random_state=rng)
        made = spiel_ismcts.ISMCTSBot(
            game=spiel, evaluator=evaluator, uct_c=UCT, max_simulations=simulations, random_state=rng
        )
        if not isinstance(game, OpenSpielGame):
            made.set_resampler(spiel_game.resampler(random.Random(number)))
        return made

    def measure() -> float:
        begin, passes = time.process_time(), 0
        while not passes or time.process_time() - begin < LEAST_S:
            passes += 1
            for number, state in enumerate(states):
                made = bot(number * MOST_PASSES + passes)
                (made.mcts_search if perfect else made.run_search)(state)
        return passes * simulations * len(states) / (time.process_time() - begin)

    return measure


def spiel_states(game: Game, found: Sequence[Situation]) -> tuple[pyspiel.Game, list[pyspiel.State]]:
    """Returns a game as OpenSpiel has it, and its states at the positions."""
    if isinstance(game, OpenSpielGame):
        return game.native, [situation.native for situation in found]
    name = SHORT_NAME + re.sub(r"\W", "_", game.info.id)
    if name not in pyspiel.registered_names():
        spiel_game.register(lambda: game, name)
    spiel = pyspiel.load_game(name)
    return spiel, [_replayed(spiel, situation.actions) for situation in found]


def _replayed(spiel: pyspiel.Game, actions: Sequence[Action]) -> pyspiel.State:
    state = spiel.new_initial_state()
    for action in actions:
        node = state.node
        state.apply_action(node.tables.table(node.player).number(action))
    return state


def run(games: Sequence[str], bundle_of: Callable[[str], ModelBundle | None], seed: int = 0) -> Iterator[SearchSpeed]:
    """Yields the speeds, each when it is measured.

    Args:
        games: ids.
        bundle_of: returns a game's synthesised model, None where there is none.
        seed: of the positions.

    Raises:
        GameError: there is no such game.
        RuntimeError: a model fails under the planner.
    """
    known = {setting.game: setting for setting in SETTINGS}
    for name in games:
        setting = known.get(name) or SearchSetting(name, *OTHER)
        yield in_turn(registry.make(name), bundle_of(name), setting, seed)


def in_turn(game: Game, bundle: ModelBundle | None, setting: SearchSetting, seed: int) -> SearchSpeed:
    """Times the three searches of one game in turn, round after round.

    Args:
        game: the true game.
        bundle: its synthesised model, None without one.
        setting: how.
        seed: of the positions.
    """
    found = situations(game, setting.positions, seed)
    config = one_rollout(game, setting.simulations)
    theirs, ours = spiel_rate(game, setting.simulations, found), true_rate(game, config, found)
    modelled = None if bundle is None else model_rate(bundle, config, found)
    rounds = [(modelled and modelled(), ours(), theirs()) for _ in range(setting.rounds)]
    of_model = [(rate, bot) for rate, _, bot in rounds if rate is not None]
    return SearchSpeed(
        game=setting.game,
        cwm=statistics.median(rate for rate, _ in of_model) if of_model else None,
        true=statistics.median(rate for _, rate, _ in rounds),
        bot=statistics.median(bot for _, _, bot in rounds),
        cwm_ratio=statistics.median(rate / bot for rate, bot in of_model) if of_model else None,
        true_ratio=statistics.median(rate / bot for _, rate, bot in rounds),
        bot_game="OpenSpiel's own game" if isinstance(game, OpenSpielGame) else "ours, registered with OpenSpiel",
        note=f"{setting.positions} positions, {setting.simulations} simulations, 1 rollout a leaf, "
        f"{setting.rounds} rounds in turn, CPU time",
    )


def table(found: Sequence[SearchSpeed]) -> Sheet:
    """Returns the table that people read: simulations a second of the three searches, and their ratios."""
    made = Sheet(
        "", ["game", "CWM in the worker", "true game", "OpenSpiel's bot", "CWM / bot", "true / bot", "the bot plays"]
    )
    for item in found:
        rates = ["–" if rate is None else f"{rate:,.0f}" for rate in (item.cwm, item.true, item.bot)]
        ratios = ["–" if ratio is None else f"{ratio:.2f}" for ratio in (item.cwm_ratio, item.true_ratio)]
        made.add(item.game, *rates, *ratios, item.bot_game)
    made.note = "simulations a second of CPU time, medians over rounds in which each had its turn"
    return made


def open_model(bundle: ModelBundle, limits: Limits = Limits()) -> Worker:  # noqa: B008
    """Starts a worker with a model and the planners.

    Raises:
        RuntimeError: the model does not load.
    """
    worker = Sandbox(limits, payload=session.PAYLOAD).start(bundle.program(), seed=0)
    if worker.loaded.failure is not None:
        worker.close()
        raise RuntimeError(f"the model does not load: {worker.loaded.failure.message}")
    return worker


def time_a_move(bundle: ModelBundle, seed: int) -> Iterator[Measurement]:
    """Seconds a move on yokai-9c-2p: medians over positions, each in a worker of its own."""
    game = registry.make(YOKAI)
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
            name=f"search/{YOKAI}/move/{name}",
            value=statistics.median(times),
            unit="s",
            note=f"{config.simulations} simulations, {leaf}, {len(found)} positions, a fresh worker for each, slowest "
            f"{max(times):.2f} s",
        )
