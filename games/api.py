"""The `Game` protocol: every method is a pure function of its arguments.

A reference game, an OpenSpiel game, a lane of a batched game and a synthesised code world model are all this one
type, so that one contract test, one planner, one match loop and one exporter serve them all. This module uses the
standard library alone, because it is loaded into sandboxed workers.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

CHANCE: Final = -1
"""`current_player` at a chance node."""
TERMINAL: Final = -4
"""`current_player` once the game is over."""

Json: TypeAlias = Any
"""A value that `json.dumps` takes: None, bool, int, float (finite), str, list, or dict with string keys."""
State: TypeAlias = Any
"""A game state. Plain JSON, unless the game wraps a foreign engine (then see `SerialisesState`)."""
Action: TypeAlias = str
Observation: TypeAlias = dict[str, Any]
"""What one player is shown at one state: a JSON object."""
ObsActionHistory: TypeAlias = Sequence[tuple[Observation, Action | None]]
"""One player's own decision points, oldest first: what it saw and what it did; the last action is None (now)."""

Utility: TypeAlias = Literal["win_loss_draw", "zero_sum", "general_sum", "identical"]

DEFAULT_VIEW: Final = "default"


class GameError(Exception):
    """A game was used wrongly; the message says what was given, what was expected and what to do."""


class IllegalActionError(GameError):
    """An action was applied that is not legal in the state."""


class UnknownGameError(GameError):
    """No game has the id that was asked for."""


@dataclass(frozen=True)
class GameInfo:
    """What is fixed about a game before it starts.

    Attributes:
        id: registry id, e.g. `yokai-9c-2p`.
        num_players: players that are not chance.
        utility: `win_loss_draw` (two players, one wins what the other loses, returns in {-1, 0, 1}), `zero_sum`,
            `general_sum`, or `identical` (every player gets the same return: a cooperative game).
        min_utility: lower bound of a player's return (the sum of its rewards).
        max_utility: upper bound of a player's return.
        perfect_information: True if every player sees the whole state.
        has_chance: True if chance nodes occur.
        player_names: one name a player, by player id.
        max_length: upper bound of the number of players' actions in a game, None if unknown.
        simultaneous: True if simultaneous moves were serialised (earlier choices hidden until all have moved).
        views: the views that `Game.observations` and `ServesViews.observation` know; the first is the default.
    """

    id: str
    num_players: int
    utility: Utility
    min_utility: float
    max_utility: float
    perfect_information: bool
    has_chance: bool
    player_names: tuple[str, ...]
    max_length: int | None = None
    simultaneous: bool = False
    views: tuple[str, ...] = (DEFAULT_VIEW,)

    def player_name(self, player: int) -> str:
        """Returns the name of `player`, with `chance` for -1 and `terminal` for -4.

        Raises:
            GameError: the id is none of these.
        """
        if player == CHANCE:
            return "chance"
        if player == TERMINAL:
            return "terminal"
        if 0 <= player < self.num_players:
            return self.player_names[player]
        raise GameError(f"{self.id} has players 0 to {self.num_players - 1}, {CHANCE} and {TERMINAL}, not {player}.")


class Game(Protocol):
    """A game in extensive form, as pure functions on states.

    A state is never changed by any method. All randomness enters through the actions of the chance player.
    """

    @property
    def info(self) -> GameInfo: ...

    def initial_state(self) -> State:
        """Returns the state before any chance node; always the same one."""
        ...

    def current_player(self, state: State) -> int:
        """Returns 0, 1, … for a player, `CHANCE` or `TERMINAL`."""
        ...

    def legal_actions(self, state: State) -> list[Action]:
        """Returns the distinct legal actions, chance's outcomes at a chance node, [] at the end."""
        ...

    def chance_outcomes(self, state: State) -> list[tuple[Action, float]]:
        """Returns (action, probability) at a chance node, in the order of `legal_actions`, summing to 1; else []."""
        ...

    def apply_action(self, state: State, action: Action) -> State:
        """Returns the next state and leaves `state` as it was.

        Raises:
            IllegalActionError: `action` is not legal in `state` (reference games; a CWM need not raise).
        """
        ...

    def rewards(self, state: State) -> list[float]:
        """Returns what the last action paid, shape [num_players]; a return is the sum over a game."""
        ...

    def observations(self, state: State) -> list[Observation]:
        """Returns what each player sees in the default view, length num_players."""
        ...


@runtime_checkable
class SerialisesState(Protocol):
    """A game whose states are not JSON themselves."""

    def state_to_json(self, state: State) -> Json: ...


@runtime_checkable
class ServesViews(Protocol):
    """A game that can show one player the same state in several views (`GameInfo.views`)."""

    def observation(self, state: State, player: int, view: str) -> Observation: ...


@runtime_checkable
class ResamplesHistory(Protocol):
    """A game with an inference function: samples histories that one player cannot tell from the real one."""

    def resample_history(self, history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
        """Returns actions of all players and chance which, from the initial state, recreate `history`."""
        ...


@runtime_checkable
class ResamplesState(Protocol):
    """A game with an inference function for the state alone: nothing is said of how the game came there."""

    def resample_state(self, history: ObsActionHistory, player: int, rng: random.Random) -> State:
        """Returns a state in which `player` is to move and sees what it saw last in `history`."""
        ...


@runtime_checkable
class EstimatesValue(Protocol):
    """A game with a value function."""

    def value(self, state: State, player: int) -> float:
        """Returns the expected sum of the rewards that `player` is still to get after `state` was reached, plus
        `rewards(state)[player]`; at the end exactly `rewards(state)[player]`."""
        ...


@runtime_checkable
class EstimatesPolicy(Protocol):
    """A game with a policy prior: how a sensible player would choose."""

    def policy(self, state: State, actions: Sequence[Action], player: int) -> list[float]:
        """Returns a probability for each of `actions`, the legal ones of `player`, in their order, summing to 1.

        It may depend only on what `player` can know: two states that it cannot tell apart give the same answer.
        """
        ...


@runtime_checkable
class PlaysOut(Protocol):
    """A game that plays uniform random moves to the end faster than its pure functions would."""

    def playout(self, state: State, rng: random.Random, max_actions: int) -> list[float]:
        """Returns the sum of the rewards paid after `state`, shape [num_players]."""
        ...


@runtime_checkable
class WalksHistories(Protocol):
    """A game that goes along a whole history faster than its pure functions would."""

    def walk(self, actions: Sequence[Action]) -> Iterator[State]:
        """Yields the states from the initial one to the one after `actions`, both included.

        The next step may change the state that was yielded last: only the last of all is there to stay.

        Raises:
            IllegalActionError: an action is not legal where it is taken.
        """
        ...


@runtime_checkable
class ReportsOutcome(Protocol):
    """A cooperative game that can say more of a finished game than its return."""

    def outcome(self, state: State) -> Mapping[str, Json]:
        """Returns at least `won` (bool), `ended_early` (bool) and `score` (float: what a win is worth).

        Where `figures` lists names of further numbers or truths among the rest, tables show their means.
        """
        ...


@runtime_checkable
class NamesEnds(Protocol):
    """A game that tells its kinds of ends apart: games that a model is tested on are to hold enough of each."""

    ends: Sequence[str]

    def end(self, state: State) -> str:
        """Returns which of `ends` a finished game came to."""
        ...


@runtime_checkable
class DealsNamedDecks(Protocol):
    """A game whose chance can be told in advance by a name, such as the seed of another program's deck."""

    def named_deck(self, name: str) -> list[Action]:
        """Returns what chance does at its first nodes, in order, whatever the players do in between.

        Raises:
            GameError: the game has no deck of this name; the message says which there are.
        """
        ...


@runtime_checkable
class RendersText(Protocol):
    """A game that draws a state as text for people."""

    def render(self, state: State, player: int | None = None) -> str:
        """Returns the whole state, or, with `player`, no more than that player sees."""
        ...


def state_to_json(game: Game, state: State) -> Json:
    """Returns `state` as JSON, whether the game's states are JSON already or wrap a foreign engine."""
    return game.state_to_json(state) if isinstance(game, SerialisesState) else state


def observe(game: Game, state: State, player: int, view: str) -> Observation:
    """Returns what `player` sees of `state` in `view`.

    Raises:
        GameError: the game has no such view.
    """
    if view == game.info.views[0]:
        return game.observations(state)[player]
    if view in game.info.views and isinstance(game, ServesViews):
        return game.observation(state, player, view)
    raise GameError(f"{game.info.id} has the views {', '.join(game.info.views)}, not {view!r}.")
