"""Numbers for action strings: OpenSpiel's algorithms want integers."""

import json
import random
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, runtime_checkable

from games.api import CHANCE, TERMINAL, Action, Game, GameError, State, state_to_json

MAX_STATES: Final = 2_000
"""So many distinct states are visited, breadth first, to collect a game's action strings."""
PATIENCE: Final = 5_000
"""Exploring games for the same end stop after so many states in a row without a new action string."""
FROM_NEW: Final = 0.5
"""Share of the exploring games that go on from a state in which a new action string was met."""
ENDS_PUT_OFF: Final = 4
"""So many actions are tried at a state for one that does not end the game."""
MAX_ACTIONS: Final = 10_000
"""A game is given up after so many actions."""


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

    Each list is the one that is passed, else the one that the game offers, else what a bounded search and seeded games
    that look for new actions find, sorted.

    Args:
        game: whose actions.
        all_actions: the players' action strings, if known.
        all_chance_actions: chance's, if known.
        seed: of the games.
    """
    own = list(all_actions or (game.all_actions() if isinstance(game, ListsActions) else ()))
    chance = list(all_chance_actions or (game.all_chance_actions() if isinstance(game, ListsChanceActions) else ()))
    if not own or (game.info.has_chance and not chance):
        found, found_chance = collect_actions(game, seed)
        own, chance = own or found, chance or found_chance
    return ActionTable(game.info.id, own), ActionTable(game.info.id, chance)


def collect_actions(game: Game, seed: int = 0) -> tuple[list[Action], list[Action]]:
    """Returns the players' and chance's action strings that a bounded search and exploring games meet, each sorted."""
    own: set[Action] = set()
    chance: set[Action] = set()
    for player, actions in (*_search(game), *_exploring_games(game, random.Random(f"collect {seed}"))):
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


def _exploring_games(game: Game, rng: random.Random) -> Iterator[tuple[int, list[Action]]]:
    """Yields who moves and the legal actions along games that go where something new may turn up.

    An action that was never played is preferred to one that was, and one that ends the game is put off. Games go on
    from the initial state, and from the states in which new action strings were met, until nothing new has been met
    for long.
    """
    listed: set[tuple[int, Action]] = set()
    played: set[tuple[int, Action]] = set()
    starts = [game.initial_state()]
    idle = 0
    while idle < PATIENCE:
        state = rng.choice(starts) if rng.random() < FROM_NEW else starts[0]
        for _ in range(MAX_ACTIONS):
            player = game.current_player(state)
            actions = game.legal_actions(state)
            yield player, actions
            fresh = {(player, action) for action in actions} - listed
            idle = 0 if fresh else idle + 1
            if fresh:
                listed |= fresh
                starts.append(state)
            if player == TERMINAL or idle >= PATIENCE:
                break
            state = _novel_step(game, state, player, actions, played, rng)


def _novel_step(
    game: Game,
    state: State,
    player: int,
    actions: list[Action],
    played: set[tuple[int, Action]],
    rng: random.Random,
) -> State:
    """Returns what follows: after an action never played if there is one, and after one that ends nothing if tries
    find one."""
    order = rng.sample(actions, len(actions))
    order.sort(key=lambda action: (player, action) in played)
    last: State = None
    for action in order[:ENDS_PUT_OFF]:
        last = game.apply_action(state, action)
        played.add((player, action))
        if game.current_player(last) != TERMINAL:
            break
    return last
