"""Games to learn from: random ones, and of games that random players see little of, some by players who know them."""

import importlib
import importlib.util
from collections.abc import Mapping

from cwm.trajectories.recorded import Policy, Trajectory, collect, game_seed, play, random_policy
from games import registry
from games.api import Game


def scripted(game_id: str) -> Mapping[str, Policy]:
    """Returns the scripted policies that ship in the game's folder (`policy.POLICIES`), {} if it has none."""
    package = registry.describe(game_id).package
    if not package or importlib.util.find_spec(f"{package}.policy") is None:
        return {}
    found: Mapping[str, Policy] = importlib.import_module(f"{package}.policy").POLICIES
    return found


def recorded(game_id: str) -> Game:
    """Returns a game as it is recorded: broken off earlier where whole games would be too long.

    Raises:
        GameError: there is no such game.
    """
    return registry.make(game_id, **registry.describe(game_id).recorded)


def lessons(game: Game, games: int, seed: int) -> list[Trajectory]:
    """Plays games to learn from; game i depends on (seed, i) alone.

    Args:
        game: as it is recorded.
        games: how many. All are random, but for games that are recorded in a way of their own: there random players
            and each of the scripted ones take turns.
        seed: of the games.

    Raises:
        EndlessGameError: a game did not end.
    """
    if not registry.knows(game.info.id) or not registry.describe(game.info.id).recorded:
        return collect(game, games, seed)
    policies = [random_policy, *scripted(game.info.id).values()]
    return [
        play(game, [policies[index % len(policies)]] * game.info.num_players, game_seed(seed, index), index)
        for index in range(games)
    ]
