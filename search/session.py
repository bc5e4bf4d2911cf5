"""What a worker runs beside a model: each function takes the model, a JSON argument and a seeded source of randomness,
and returns JSON.

An argument's `config` (or each of its `seats`) is a `PlannerConfig` as JSON.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from games.api import Game, PlaysOut
from search import evaluators, planner
from search.api import Decision, Planner, PlannerConfig, PlannerConfigError, Position
from search.episodes import Table
from search.errors import SearchFailedError

PAYLOAD: tuple[str, ...] = (
    "games.api",
    "search.api",
    "search.errors",
    "search.selection",
    "search.evaluators",
    "search.belief",
    "search.mcts",
    "search.ismcts",
    "search.planner",
    "search.episodes",
    "search.session",
)
"""The modules that a worker must load, each after those it imports."""

RANDOM_SEAT = "random"
DEFAULT_MAX_ACTIONS = 1000


def choose(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Decides one move.

    Args:
        game: the model.
        argument: `config`; `player`; `history` ([[observation, action or null], …], the last action null); `state`
            (perfect information) or null.
        rng: the search's randomness.

    Returns:
        The fields of `Decision`, and `seconds`. If the search has no action at all, `action` is null and `fallback`
        says why.

    Raises:
        PlannerConfigError: the settings do not fit the model.
    """
    begin = time.perf_counter()
    chooser = planner.make(game, PlannerConfig.from_json(argument["config"]))
    try:
        result = _to_json(chooser.choose(_position(argument), rng))
    except SearchFailedError as error:
        result = _to_json(Decision("", {}, {}, 0, str(error), {}, {})) | {"action": None}
    return result | {"seconds": time.perf_counter() - begin}


def play(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays whole games on the model.

    Args:
        game: the model.
        argument: `seats`: one planner's settings or "random" a player; `games`: number of deals; `max_actions`: a game
            is cut after that many (default 1,000); `rotations`: play each deal in all rotations of the seats (default
            false).
        rng: all randomness derives from it; game i is the same whatever the number of games.

    Returns:
        `games`: one record a game: the fields of `Episode`, `deal`, `rotation`, and `seats`, the index into the
        argument's seats of who played each player.
    """
    seats = _seats(game, argument["seats"])
    base = rng.getrandbits(64)
    records = []
    for deal in range(argument["games"]):
        for rotation in range(len(seats) if argument.get("rotations", False) else 1):
            order = [(player + rotation) % len(seats) for player in range(len(seats))]
            table = Table(game, [seats[index] for index in order], f"{base}/{deal}/{rotation}", f"{base}/{deal}")
            episode = table.play(argument.get("max_actions", DEFAULT_MAX_ACTIONS))
            records.append({"deal": deal, "rotation": rotation, "seats": order} | episode.to_json())
    return {"games": records}


def visited(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays games as `play` does, without rotations, and returns what happened at every step.

    Returns:
        `trajectories`: for each game `episode` (the fields of `Episode`) and `steps`, in the fields of recorded
        trajectories (`state`, `player`, `action`, `legal_actions`, `chance`, `rewards`, `observations`). A game that
        was cut or failed lacks the last step.
    """
    seats = _seats(game, argument["seats"])
    base = rng.getrandbits(64)
    trajectories = []
    for deal in range(argument["games"]):
        steps: list[dict[str, Any]] = []
        table = Table(game, seats, f"{base}/{deal}/0", f"{base}/{deal}")
        episode = table.play(argument.get("max_actions", DEFAULT_MAX_ACTIONS), steps)
        trajectories.append({"episode": episode.to_json(), "steps": steps})
    return {"trajectories": trajectories}


def playouts(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Plays random games from the initial state, as the rollouts of a search do.

    Args:
        game: the model.
        argument: `games`; `max_actions` (default 1,000).
        rng: chooses the moves.

    Returns:
        `games`, `seconds`, and `returns`, the mean return of each player.
    """
    games = argument["games"]
    limit = argument.get("max_actions", DEFAULT_MAX_ACTIONS)
    total = [0.0] * game.info.num_players
    begin = time.perf_counter()
    for _ in range(games):
        state = game.initial_state()
        if isinstance(game, PlaysOut):
            returns = game.playout(state, rng, limit)
        else:
            returns = evaluators.random_playout(game, state, rng, limit)
        total = [paid + more for paid, more in zip(total, returns, strict=True)]
    seconds = time.perf_counter() - begin
    return {"games": games, "seconds": seconds, "returns": [paid / max(1, games) for paid in total]}


def benchmark(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Measures the speed of a search.

    Args:
        game: the model.
        argument: `config`; `positions`: a list of `{player, history, state}` as `choose` takes them.
        rng: the searches' randomness.

    Returns:
        `simulations` that ran, `seconds`, `per_second`, `errors` and `fallbacks` over all positions.
    """
    chooser = planner.make(game, PlannerConfig.from_json(argument["config"]))
    positions = [_position(position) for position in argument["positions"]]
    begin = time.perf_counter()
    decisions = [chooser.choose(position, rng) for position in positions]
    seconds = time.perf_counter() - begin
    simulations = sum(decision.simulations for decision in decisions)
    return {
        "simulations": simulations,
        "seconds": seconds,
        "per_second": simulations / seconds if seconds else 0.0,
        "errors": sum(sum(decision.errors.values()) for decision in decisions),
        "fallbacks": sum(decision.fallback is not None for decision in decisions),
    }


def _to_json(decision: Decision) -> dict[str, Any]:
    return asdict(decision)


def _position(argument: dict[str, Any]) -> Position:
    history = [(observation, action) for observation, action in argument.get("history") or []]
    return Position(argument["player"], history, argument.get("state"))


def _seats(game: Game, seats: Sequence[str | dict[str, Any]]) -> list[Planner | None]:
    if len(seats) != game.info.num_players:
        raise PlannerConfigError(f"{len(seats)} seats were given, {game.info.id} has {game.info.num_players} players.")
    return [_seat(game, seat) for seat in seats]


def _seat(game: Game, seat: str | dict[str, Any]) -> Planner | None:
    if isinstance(seat, str):
        if seat != RANDOM_SEAT:
            raise PlannerConfigError(f"a seat is {seat!r}, expected {RANDOM_SEAT!r} or planner settings.")
        return None
    return planner.make(game, PlannerConfig.from_json(seat))
