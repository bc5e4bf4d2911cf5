"""What one player should believe: the exact posterior over the histories that it cannot tell from the real one.

The others are taken to choose uniformly among their legal actions; chance has its own probabilities; what the player
itself did is known to it and says nothing. Where histories are too many to list, a game may state the exact marginals
of what it hides (`StatesMarginals`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, runtime_checkable

from games.api import CHANCE, TERMINAL, Action, Game, GameError, ObsActionHistory, Observation, State

MAX_NODES: Final = 200_000

History: TypeAlias = tuple[Action, ...]
"""Every player's and chance's actions from the initial state."""
DecisionPoints: TypeAlias = tuple[tuple[Observation, Action | None], ...]
"""One player's own decision points, oldest first: what it saw and what it did; the last action is None (now)."""


class TooLargeError(GameError):
    """A game has more nodes than are to be listed."""


@runtime_checkable
class StatesMarginals(Protocol):
    """A game that knows the exact posterior of each hidden part, where it cannot be had by listing histories."""

    def hidden_parts(self, actions: Sequence[Action]) -> list[str]:
        """Returns the values of all parts that may be hidden after a whole history, in a fixed order."""
        ...

    def marginals(self, history: ObsActionHistory, player: int) -> list[Mapping[str, float]]:
        """Returns the probability of each value, for each part, given the player's own decision points."""
        ...


@runtime_checkable
class NamesHiddenParts(Protocol):
    """A game that says which parts of a state a belief about it is to be judged by."""

    def hidden_parts_of(self, state: State) -> list[str]:
        """Returns their values in a fixed order, that of `StatesMarginals.hidden_parts` where the game has both."""
        ...


@dataclass(frozen=True)
class Belief:
    """What a player should believe at one of its decision points.

    Attributes:
        player: who.
        history: its own decision points, the last action None.
        probabilities: by whole history, summing to 1.
        reach: how likely uniformly random players are to come here.
    """

    player: int
    history: DecisionPoints
    probabilities: Mapping[History, float]
    reach: float


@dataclass(frozen=True)
class _Visit:
    """One history to a decision point, with its weights."""

    actions: History
    others: float
    """Probability of chance's and the others' choices: those of the player itself cancel."""
    reach: float


def beliefs(game: Game, max_nodes: int = MAX_NODES) -> list[Belief]:
    """Returns the exact posterior at every decision point of every player, by listing all histories.

    Args:
        game: the true game.
        max_nodes: so many states are visited at most.

    Raises:
        TooLargeError: the game has more nodes.
    """
    points: dict[tuple[int, str], list[_Visit]] = {}
    seen: dict[tuple[int, str], DecisionPoints] = {}
    players = game.info.num_players
    none: tuple[DecisionPoints, ...] = ((),) * players
    stack: list[tuple[State, History, tuple[float, ...], float, tuple[DecisionPoints, ...]]]
    stack = [(game.initial_state(), (), (1.0,) * players, 1.0, none)]
    nodes = 0
    while stack:
        state, actions, others, reach, own = stack.pop()
        nodes += 1
        if nodes > max_nodes:
            raise TooLargeError(f"{game.info.id} has more than {max_nodes:,} nodes: too many to list.")
        player = game.current_player(state)
        if player == TERMINAL:
            continue
        choices = _choices(game, state, player)
        shown: Observation = {}
        if player != CHANCE:
            shown = game.observations(state)[player]
            history = (*own[player], (shown, None))
            key = player, json.dumps(history, sort_keys=True)
            seen.setdefault(key, history)
            points.setdefault(key, []).append(_Visit(actions, others[player], reach))
        for action, probability in choices:
            weights = tuple(weight if seat == player else weight * probability for seat, weight in enumerate(others))
            # Nobody's own past grows at a chance node.
            past = tuple((*before, (shown, action)) if seat == player else before for seat, before in enumerate(own))
            following = game.apply_action(state, action)
            stack.append((following, (*actions, action), weights, reach * probability, past))
    return [_belief(player, seen[player, key], points[player, key]) for player, key in sorted(points)]


def _choices(game: Game, state: State, player: int) -> Sequence[tuple[Action, float]]:
    if player == CHANCE:
        return [(action, probability) for action, probability in game.chance_outcomes(state) if probability > 0]
    legal = game.legal_actions(state)
    return [(action, 1 / len(legal)) for action in legal]


def _belief(player: int, history: DecisionPoints, visits: Sequence[_Visit]) -> Belief:
    total = sum(visit.others for visit in visits)
    ordered = sorted(visits, key=lambda visit: visit.actions)
    probabilities = {visit.actions: visit.others / total for visit in ordered}
    return Belief(player, history, probabilities, sum(visit.reach for visit in ordered))
