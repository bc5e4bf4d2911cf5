"""What each legal action is worth to a player who goes on by a policy: the mean over sampled worlds, with its error.

All actions are tried in the same worlds with the same luck, so that differences between them are seen with far fewer
worlds than the values themselves.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple, Protocol, TypeAlias

from games.api import (
    CHANCE,
    TERMINAL,
    Action,
    EstimatesPolicy,
    Game,
    ObsActionHistory,
    Observation,
    ResamplesHistory,
    State,
)
from search.api import PlannerConfig, PlannerConfigError, Position
from search.belief import Drawer, one_history
from search.errors import BrokenModelError, ErrorCount, SearchFailedError, describe
from search.priors import policy_of
from search.selection import pick

LEAST_SPREAD = 1.0
"""Ratings of actions that are worth nearly the same do not part further than if this lay between best and worst."""
Chooser: TypeAlias = Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]
"""Chooses one of the legal actions, given a player's own decision points (the last action None)."""
Weigher: TypeAlias = Callable[[State, Sequence[Action], int], Sequence[float]]
"""Returns a probability for each of the legal actions of a player."""
_Seen: TypeAlias = list[list[tuple[Observation, Action | None]]]
"""By player, its decision points so far."""


class World(Protocol):
    """One history, from which games are played on."""

    def play(self, action: Action, seed: int, max_actions: int) -> list[float]:
        """Returns what every player got in the whole game, shape [num_players].

        Args:
            action: the first one after the history.
            seed: of everything random; the same seed deals the same to every first action, as far as the game allows.
            max_actions: the game is cut after that many actions more; what is still open counts as 0.
        """
        ...


class Playouts(Protocol):
    """A policy that plays on from any history."""

    def world(self, actions: Sequence[Action]) -> World:
        """Returns the world that a history of all players and chance leads to."""
        ...


class PolicyPlayouts:
    """Plays on by a policy that looks at the state, such as a game's policy prior."""

    def __init__(self, game: Game, policy: Weigher) -> None:
        self._game = game
        self._policy = policy

    def world(self, actions: Sequence[Action]) -> World:
        """Returns the world that a history of all players and chance leads to."""
        return _Walked(self._game, actions, self._choose, None)

    def _choose(
        self, state: State, player: int, legal: Sequence[Action], seen: _Seen | None, rng: random.Random
    ) -> Action:
        return rng.choices(legal, self._policy(state, legal, player))[0]


class HistoryPlayouts:
    """Plays on by a bot that looks at what its player saw and did, which has to be kept for every player."""

    def __init__(self, game: Game, choose: Chooser) -> None:
        self._game = game
        self._bot = choose

    def world(self, actions: Sequence[Action]) -> World:
        """Returns the world that a history of all players and chance leads to."""
        return _Walked(self._game, actions, self._choose, [[] for _ in range(self._game.info.num_players)])

    def _choose(
        self, state: State, player: int, legal: Sequence[Action], seen: _Seen | None, rng: random.Random
    ) -> Action:
        assert seen is not None  # `world` above gives it
        return self._bot([*seen[player], (self._game.observations(state)[player], None)], legal, rng)


class _Walked:
    """A history that was walked along once; every game that is played on from it starts there."""

    def __init__(
        self,
        game: Game,
        actions: Sequence[Action],
        choose: Callable[[State, int, Sequence[Action], _Seen | None, random.Random], Action],
        seen: _Seen | None,
    ) -> None:
        self._game = game
        self._choose = choose
        self._seen = seen
        self._paid = [0.0] * game.info.num_players
        self._state = game.initial_state()
        for action in actions:
            self._state = self._advance(self._state, action, self._seen, self._paid)

    def play(self, action: Action, seed: int, max_actions: int) -> list[float]:
        """See `World`.

        Raises:
            BrokenModelError: what was paid is no finite number.
        """
        game, paid = self._game, list(self._paid)
        seen = None if self._seen is None else [list(points) for points in self._seen]
        state = self._advance(self._state, action, seen, paid)
        # Two streams: a player that draws more numbers must not change what chance deals.
        chance, moves = random.Random(seed), random.Random(~seed)
        for _ in range(max_actions):
            player = game.current_player(state)
            if player == TERMINAL:
                break
            if player == CHANCE:
                action = pick(game.chance_outcomes(state), chance.random())
            else:
                action = self._choose(state, player, game.legal_actions(state), seen, moves)
            state = self._advance(state, action, seen, paid)
        if not math.isfinite(sum(paid)):
            raise BrokenModelError(f"the rewards of a game sum to {paid}, expected finite numbers")
        return paid

    def _advance(self, state: State, action: Action, seen: _Seen | None, paid: list[float]) -> State:
        game = self._game
        if seen is not None and (player := game.current_player(state)) >= 0:
            seen[player].append((game.observations(state)[player], action))
        state = game.apply_action(state, action)
        for player, reward in enumerate(game.rewards(state)):
            paid[player] += reward
        return state


class ActionValue(NamedTuple):
    """What one action is worth.

    Attributes:
        action: the action.
        mean: what the player gets in the whole game, on average over the worlds.
        se: standard error of the mean.
        n: worlds.
    """

    action: Action
    mean: float
    se: float
    n: int


@dataclass(frozen=True)
class ValueConfig:
    """How values are estimated.

    Attributes:
        worlds: how many histories are sampled, 2 or more; each action is played on once in each.
        max_actions: a game is cut after that many actions; what is still open counts as 0.
        resample_tries: tries to get one history that recreates what the player saw.
    """

    worlds: int = 100
    max_actions: int = 1000
    resample_tries: int = 10

    def __post_init__(self) -> None:
        for name, least in (("worlds", 2), ("max_actions", 1), ("resample_tries", 1)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise PlannerConfigError(f"{name} is {value!r}, expected a whole number of at least {least}.")


def action_values(
    game: Game,
    history: ObsActionHistory,
    player: int,
    config: ValueConfig,
    rng: random.Random,
    *,
    playouts: Playouts | None = None,
    truth: Sequence[Action] | None = None,
) -> list[ActionValue]:
    """Returns the value of every legal action, in the game's order.

    Args:
        game: true or synthesised.
        history: the player's own decision points, the last action None.
        player: who is to move.
        config: how many worlds.
        rng: source of all randomness.
        playouts: how games are played on; None for the game's policy prior, of all players.
        truth: the actions of all players and chance so far: each world is this one, as for somebody who sees all that
            is hidden now, and only what chance does from here on differs. None: worlds are sampled from what the
            player saw. Needed where the game has no inference function.

    Raises:
        PlannerConfigError: there is no policy to play on by, or no inference function to sample worlds.
        SearchFailedError: no history fits what the player saw, or the game failed in half of the worlds.
    """
    if not one_history(history):
        raise SearchFailedError("values need the player's history, its last action None and no other one.")
    errors = ErrorCount()
    if playouts is None:
        if not isinstance(game, EstimatesPolicy):
            raise PlannerConfigError(f"{game.info.id} has no policy prior to play on by: name a player that does.")
        playouts = PolicyPlayouts(game, policy_of(game, errors))
    worlds = _Worlds(game, Position(player, history), config, rng, errors, truth)
    legal: list[Action] = []
    sums: list[list[float]] = []
    for number in range(config.worlds):
        actions = worlds.draw()
        try:
            legal = legal or _legal(game, actions)
            sums.append(_tried(playouts.world(actions), legal, rng.getrandbits(63), player, config.max_actions))
        except MemoryError:
            raise
        except Exception as error:
            errors.add(error)
            if errors.total > config.worlds // 2:
                raise SearchFailedError(
                    f"games failed in {errors.total} of {number + 1} worlds, last {describe(error)}."
                ) from error
    return [_value(action, [world[index] for world in sums]) for index, action in enumerate(legal)]


def ratings(means: Sequence[float], least_spread: float = LEAST_SPREAD) -> list[float]:
    """Returns each action's rating, from -1 to 1: 1 for the best, and less by twice the share of the spread it loses.

    Args:
        means: one of each action; at least one.
        least_spread: the spread counts as this at least, in the game's units.
    """
    best = max(means)
    spread = max(best - min(means), least_spread)
    return [1.0 - 2.0 * (best - mean) / spread for mean in means]


class _Worlds:
    """Draws histories that the player cannot tell from the real one, or gives the real one."""

    def __init__(
        self,
        game: Game,
        position: Position,
        config: ValueConfig,
        rng: random.Random,
        errors: ErrorCount,
        truth: Sequence[Action] | None,
    ) -> None:
        self._truth = truth
        self._drawer: Drawer | None = None
        self._player = position.player
        if truth is not None:
            return
        if not isinstance(game, ResamplesHistory):
            raise PlannerConfigError(
                f"{game.info.id} has no inference function that samples histories: give the true one."
            )
        settings = PlannerConfig(algorithm="ismcts", resample_tries=config.resample_tries)
        self._drawer = Drawer(game, game, position, settings, rng, errors)

    def draw(self) -> Sequence[Action]:
        """Returns a whole history.

        Raises:
            SearchFailedError: none fits.
        """
        if self._drawer is None:
            return self._truth or ()
        particle = self._drawer.draw()
        if particle is None:
            tries = self._drawer.counts.tries
            raise SearchFailedError(f"none of {tries} sampled histories recreates what player {self._player} sees.")
        return particle.actions


def _legal(game: Game, actions: Sequence[Action]) -> list[Action]:
    state = game.initial_state()
    for action in actions:
        state = game.apply_action(state, action)
    return list(game.legal_actions(state))


def _tried(world: World, legal: Sequence[Action], seed: int, player: int, max_actions: int) -> list[float]:
    return [world.play(action, seed, max_actions)[player] for action in legal]


def _value(action: Action, returns: Sequence[float]) -> ActionValue:
    error = stdev(returns) / math.sqrt(len(returns)) if len(returns) > 1 else math.inf
    return ActionValue(action, fmean(returns), error, len(returns))
