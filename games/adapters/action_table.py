"""Numbers for action strings: OpenSpiel's algorithms want integers."""

import json
import random
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, runtime_checkable

from games.api import CHANCE, TERMINAL, Action, Game, GameError, State, state_to_json

MAX_STATES: Final = 2_000
"""So many distinct states are visited, breadth first, to collect a game's action strings."""
RANDOM_GAMES: Final = 200
"""So many random games are played for the same end, where the game has more states than that."""
MAX_ACTIONS: Final = 10_000
"""A random game is given up after so many actions."""


@runtime_checkable
class ListsActions(Protocol):
    """A game that knows the strings of all its actions; an action's place in the list is its number."""

    def all_actions(self) -> list[Action]:
        """Returns the strings of all actions of all players, [] if they are not known."""
        ...


@runtime_checkable
class ListsChanceActions(Protocol):
    """A game that knows the strings of all its chance outcomes; an outcome's place in the list is its number."""

    def all_chance_actions(self) -> list[Action]:
        """Returns the strings of all chance outcomes, [] if they are not known or chance never acts."""
        ...


class ActionTable:
    """A fixed list of action strings; the place in it is the number."""

    def __init__(self, game_id: str, names: Iterable[Action]) -> None:
        self.game_id = game_id
        self.names = tuple(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def number(self, name: Action) -> int:
        """Returns the number of an action.

        Raises:
            GameError: the action is not in the list.
        """
        try:
            return self._numbers[name]
        except KeyError:
            raise GameError(
                f"{self.game_id}: the action {name!r} is not among the {len(self.names)} known; pass the list of all "
                "action strings when you register the game, or let the game offer all_actions()."
            ) from None


def action_tables(
    game: Game, all_actions: Iterable[Action] | None, all_chance_actions: Iterable[Action] | None, seed: int = 0
) -> tuple[ActionTable, ActionTable]:
    """Returns the tables of the players' actions and of chance's outcomes.

    Each list is the one that is passed, else the one that the game offers, else what a bounded search and seeded random
    games find, sorted.

    Args:
        game: whose actions.
        all_actions: the players' action strings, if known.
        all_chance_actions: chance's, if known.
        seed: of the random games.
    """
    own = list(all_actions or (game.all_actions() if isinstance(game, ListsActions) else ()))
    chance = list(all_chance_actions or (game.all_chance_actions() if isinstance(game, ListsChanceActions) else ()))
    if not own or (game.info.has_chance and not chance):
        found, found_chance = collect_actions(game, seed)
        own, chance = own or found, chance or found_chance
    return ActionTable(game.info.id, own), ActionTable(game.info.id, chance)


def collect_actions(game: Game, seed: int = 0) -> tuple[list[Action], list[Action]]:
    """Returns the players' and chance's action strings that a bounded search and random games meet, each sorted."""
    own: set[Action] = set()
    chance: set[Action] = set()
    for player, actions in (*_search(game), *_random_games(game, random.Random(f"collect {seed}"))):
        (chance if player == CHANCE else own).update(actions)
    return sorted(own), sorted(chance)


def _search(game: Game) -> Iterator[tuple[int, list[Action]]]:
    """Yields who moves and the legal actions of the first `MAX_STATES` distinct states, breadth first."""
    seen: set[str] = set()
    level: list[State] = [game.initial_state()]
    while level:
        following: list[State] = []
        for state in level:
            key = json.dumps(state_to_json(game, state), sort_keys=True)
            if key in seen:
                continue
            if len(seen) == MAX_STATES:
                return
            seen.add(key)
            actions = game.legal_actions(state)
            yield game.current_player(state), actions
            if len(seen) + len(following) < 2 * MAX_STATES:
                following += [game.apply_action(state, action) for action in actions]
        level = following


def _random_games(game: Game, rng: random.Random) -> Iterator[tuple[int, list[Action]]]:
    for _ in range(RANDOM_GAMES):
        state = game.initial_state()
        for _ in range(MAX_ACTIONS):
            player = game.current_player(state)
            if player == TERMINAL:
                break
            actions = game.legal_actions(state)
            yield player, actions
            state = game.apply_action(state, rng.choice(actions))
