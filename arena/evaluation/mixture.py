"""Ways to play for test data: random, search on the true game, scripted; a mixture of them drawn by seat and game."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from cwm.trajectories.recorded import Policy, Trajectory, collect, game_seed, play, random_policy
from games.api import Action, Game, GameError, ObsActionHistory, ResamplesHistory, State
from games.scripted import scripted
from search.api import Planner, PlannerConfig, Position
from search.planner import make

MAX_SIMULATIONS = 100
"""The CWM paper's test data come from random play and from searches of at most so many simulations."""
FEW_SIMULATIONS = 10
LONG = 100
"""Actions of a game from which on searches have fewer simulations."""
SAMPLED_GAMES = 4


@dataclass(frozen=True)
class NamedPolicy:
    """A policy in a mixture.

    Attributes:
        name: in tables.
        policy: how to play.
        weight: how often it is drawn, against the others.
        whole_table: once drawn, it takes every seat of the game (a script that wins needs its partners).
    """

    name: str
    policy: Policy
    weight: float = 1.0
    whole_table: bool = False


class SearchPolicy:
    """Searches the true game at every move: MCTS where nothing is hidden, else ISMCTS on the player's own history."""

    def __init__(self, game: Game, simulations: int = MAX_SIMULATIONS, rollouts: int = 1) -> None:
        """Sets up a search.

        Args:
            game: the game that will be played.
            simulations: a move.
            rollouts: a leaf.

        Raises:
            GameError: something is hidden, and the game cannot resample histories.
        """
        hidden = not game.info.perfect_information
        if hidden and not isinstance(game, ResamplesHistory):
            raise GameError(f"{game.info.id} hides information and cannot resample histories: use another policy.")
        config = PlannerConfig(algorithm="ismcts" if hidden else "mcts", simulations=simulations, rollouts=rollouts)
        self._planner: Planner = make(game, config)

    def __call__(self, game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
        known = state if game.info.perfect_information else None
        return self._planner.choose(Position(player, history, known), rng).action


def standard_mixture(game: Game) -> list[NamedPolicy]:
    """Returns what the held-out test games are played with: random, two strengths of search, scripted policies.

    The stronger search has `affordable(game)` simulations. Scripted policies take whole tables: they make sure that
    rare ends occur.
    """
    mixture = [NamedPolicy("random", random_policy)]
    if game.info.perfect_information or isinstance(game, ResamplesHistory):
        for simulations in (FEW_SIMULATIONS, affordable(game)):
            mixture.append(NamedPolicy(f"search-{simulations}", SearchPolicy(game, simulations)))
    return mixture + scripted_mixture(game)


def scripted_mixture(game: Game) -> list[NamedPolicy]:
    """Returns the game's scripted policies, each for whole tables; [] if it has none."""
    return [NamedPolicy(name, policy, whole_table=True) for name, policy in sorted(scripted(game.info.id).items())]


def affordable(game: Game) -> int:
    """Returns how many simulations a move the stronger search of the mixture has.

    A game that is twice as long has twice as many moves, each with rollouts that are twice as long. So where random
    games are longer than `LONG` actions, chance's included, the simulations go down with the square of their length: a
    whole game takes about as much work as one of `LONG` actions. The length is that of a few games, always the same.
    """
    length = fmean(len(trajectory.steps) for trajectory in collect(game, SAMPLED_GAMES, seed=0))
    return max(FEW_SIMULATIONS, min(MAX_SIMULATIONS, round(MAX_SIMULATIONS * (LONG / length) ** 2)))


def draw_seats(mixture: Sequence[NamedPolicy], players: int, seed: int) -> list[NamedPolicy]:
    """Returns who plays each seat of one game: drawn by weight, from the game's seed alone.

    Raises:
        GameError: the mixture is empty.
    """
    if not mixture:
        raise GameError("A mixture of policies needs at least one.")
    rng = random.Random(f"seats/{seed}")
    first = _draw(mixture, rng)
    if first.whole_table:
        return [first] * players
    seated = [entry for entry in mixture if not entry.whole_table]
    return [first, *(_draw(seated, rng) for _ in range(players - 1))]


def _draw(mixture: Sequence[NamedPolicy], rng: random.Random) -> NamedPolicy:
    return rng.choices(mixture, [entry.weight for entry in mixture])[0]


def collect_mixed(
    game: Game, games: int, seed: int, mixture: Sequence[NamedPolicy], first: int = 0
) -> list[Trajectory]:
    """Plays games `first`, `first` + 1, … whose seats are drawn anew for each; game i depends on (seed, i) alone."""
    trajectories = []
    for index in range(first, first + games):
        own_seed = game_seed(seed, index)
        seats = draw_seats(mixture, game.info.num_players, own_seed)
        trajectories.append(play(game, [entry.policy for entry in seats], own_seed, index))
    return trajectories
