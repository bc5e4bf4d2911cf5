"""What a worker runs beside a model: each function takes the model, a JSON argument and a seeded source of randomness,
and returns JSON.

An argument's `config` (or each of its `seats`) is a `PlannerConfig` as JSON.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from games.api import Game, PlaysOut, state_to_json
from search import evaluators, planner, priors
from search.api import Decision, Planner, PlannerConfig, PlannerConfigError, Position
from search.episodes import Table
from search.errors import ErrorCount, SearchFailedError
from search.marginals import shares

PAYLOAD: tuple[str, ...] = (
    "games.api",
    "search.api",
    "search.errors",
    "search.selection",
    "search.puct",
    "search.priors",
    "search.resampling",
    "search.evaluators",
    "search.particles",
    "search.belief",
    "search.likelihood",
    "search.weighted_belief",
    "search.mcts",
    "search.info_tree",
    "search.ismcts",
    "search.blueprint",
    "search.planner",
    "search.marginals",
    "search.episodes",
    "search.session",
)
"""The modules that a worker must load, each after those it imports."""

RANDOM_SEAT = "random"
DEFAULT_MAX_ACTIONS = 1000
TICK_S = 0.004
"""Step of the CPU clock inside a locked worker on some kernels: what takes less may read as nothing."""


def choose(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Decides one move.

    Args:
        game: the model.
        argument: `config`; `player`; `history` ([[observation, action or null], …], the last action null); `state`
            (perfect information) or null; `report_belief` and `explain` (default false).
        rng: the search's randomness.

    Returns:
        The fields of `Decision`, and `seconds`. If the search has no action at all, `action` is null and `fallback`
        says why. `belief_states` is there only if the belief was asked for: [[weight, state], …]; where an
        explanation was, `belief_shares` if something is hidden (see `search.marginals.shares`), and `priors`, by
        action, if there are any.

    Raises:
        PlannerConfigError: the settings do not fit the model.
    """
    begin = time.perf_counter()
    config, position = PlannerConfig.from_json(argument["config"]), _position(argument)
    chooser = _SEATED.take(game, config, position.player) or planner.make(game, config)
    try:
        decision = chooser.choose(position, rng)
        result = _explained(game, decision) if position.as_searched else _to_json(game, decision)
        _SEATED.keep(game, config, position.player, chooser)
    except SearchFailedError as error:
        result = _to_json(game, Decision("", {}, {}, 0, str(error), {}, {})) | {"action": None}
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
            # Planners of its own for each game: none may remember another game, or sit at two seats.
            planners = _seats(game, [argument["seats"][index] for index in order])
            table = Table(game, planners, f"{base}/{deal}/{rotation}", f"{base}/{deal}")
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
    base = rng.getrandbits(64)
    trajectories = []
    for deal in range(argument["games"]):
        steps: list[dict[str, Any]] = []
        table = Table(game, _seats(game, argument["seats"]), f"{base}/{deal}/0", f"{base}/{deal}")
        episode = table.play(argument.get("max_actions", DEFAULT_MAX_ACTIONS), steps)
        trajectories.append({"episode": episode.to_json(), "steps": steps})
    return {"trajectories": trajectories}


def foretold(game: Game, argument: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Says of a finished game how likely the policy prior took what the other players did.

    Args:
        game: the model, with a policy prior.
        argument: `actions`: from the start on, of players and of chance; `reader`: the player whose own decisions are
            left out.
        rng: of no use.

    Returns:
        `choices`: [player, the prior's probability of every legal action, the index of the one taken] for every
        decision of another player between two actions or more, in order; `errors` of the prior, by message, with
        counts.

    Raises:
        PlannerConfigError: the model has no policy prior.
    """
    errors = ErrorCount()
    prior = priors.policy_of(game, errors)
    choices: list[list[Any]] = []
    state = game.initial_state()
    for action in argument["actions"]:
        player = game.current_player(state)
        if player >= 0 and player != argument["reader"]:
            legal = game.legal_actions(state)
            if len(legal) > 1 and action in legal:
                choices.append([player, prior(state, legal, player), legal.index(action)])
        state = game.apply_action(state, action)
    return {"choices": choices, "errors": errors.to_json()}


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
        `simulations` that ran, `seconds` of CPU time, which other processes of a busy machine do not change,
        `per_second`, `errors` and `fallbacks` over all positions.
    """
    chooser = planner.make(game, PlannerConfig.from_json(argument["config"]))
    positions = [_position(position) for position in argument["positions"]]
    begin = time.process_time()
    decisions = [chooser.choose(position, rng) for position in positions]
    seconds = time.process_time() - begin
    simulations = sum(decision.simulations for decision in decisions)
    return {
        "simulations": simulations,
        "seconds": seconds,
        "per_second": simulations / seconds if seconds else 0.0,
        "errors": sum(sum(decision.errors.values()) for decision in decisions),
        "fallbacks": sum(decision.fallback is not None for decision in decisions),
    }


class _Seated:
    """The planners of the game in progress that keep a belief from move to move, by player.

    Whether a position continues what a planner remembers is for the planner to see.
    """

    def __init__(self) -> None:
        self._game: Game | None = None
        self._planners: dict[int, tuple[PlannerConfig, Planner]] = {}

    def take(self, game: Game, config: PlannerConfig, player: int) -> Planner | None:
        """Returns the planner that was kept for such a request, None if there is none. It is kept no longer, so that
        one whose search breaks off is not used again."""
        if game is not self._game:
            self._game, self._planners = None, {}
        kept = self._planners.pop(player, None)
        return kept[1] if kept is not None and kept[0] == config else None

    def keep(self, game: Game, config: PlannerConfig, player: int, chooser: Planner) -> None:
        """Keeps a planner, if it remembers anything at all."""
        if planner.remembers(config):
            self._game = game
            self._planners[player] = (config, chooser)


_SEATED = _Seated()


def _to_json(game: Game, decision: Decision) -> dict[str, Any]:
    # `asdict` would copy the states of a belief, which may be the game's own objects.
    result = asdict(replace(decision, belief_states=None))
    del result["belief_states"], result["priors"]
    if decision.belief_states is not None:
        result["belief_states"] = [[weight, state_to_json(game, state)] for weight, state in decision.belief_states]
    return result


def _explained(game: Game, decision: Decision) -> dict[str, Any]:
    result = _to_json(game, replace(decision, belief_states=None))
    if decision.priors is not None:
        result["priors"] = decision.priors
    if decision.belief_states:
        result["belief_shares"] = shares([(weight, state_to_json(game, own)) for weight, own in decision.belief_states])
    return result


def _position(argument: dict[str, Any]) -> Position:
    history = [(observation, action) for observation, action in argument.get("history") or []]
    reports, explains = argument.get("report_belief", False), argument.get("explain", False)
    return Position(argument["player"], history, argument.get("state"), reports, explains)


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
