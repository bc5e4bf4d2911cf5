"""Histories of an exported game: what OpenSpiel's states hold, and share."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from games.adapters.action_table import ActionTable, action_tables
from games.api import CHANCE, Action, Game, GameError, GameInfo, Observation, RendersText, State, state_to_json

Parameter: TypeAlias = int | float | str | bool
RewardModel: TypeAlias = Literal["terminal", "rewards"]


@runtime_checkable
class StatesInformation(Protocol):
    """A game that words a player's information state itself."""

    def information_state_string(self, state: State, player: int) -> str:
        """Returns all that `player` knows (perfect recall): equal exactly where it cannot tell two states apart."""
        ...


@dataclass(frozen=True)
class Export:
    """How a game is exported.

    Attributes:
        factory: builds the game from the parameters.
        short_name: name in OpenSpiel.
        parameters: names and default values of the parameters that `pyspiel.load_game` accepts.
        players: fewest and most players over all parameters; None: as many as the default game has.
        reward_model: `terminal`: everything is paid at the end, as the search algorithms want it (rewards on the way
            are saved up, so that returns stay the same); `rewards`: as the game pays.
        all_actions: strings of all the players' actions; None: asked of the game, or collected.
        all_chance_actions: the same for chance.
    """

    factory: Callable[..., Game]
    short_name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    players: tuple[int, int] | None = None
    reward_model: RewardModel = "terminal"
    all_actions: Sequence[Action] | None = None
    all_chance_actions: Sequence[Action] | None = None


_EXPORTS: Final[dict[str, Export]] = {}
_TABLES: Final[dict[tuple[str, tuple[tuple[str, Parameter], ...]], "Tables"]] = {}


class Tables:
    """What all states of one exported game share: the game, its action numbers, its root."""

    def __init__(self, export: Export, parameters: Mapping[str, Parameter]) -> None:
        self.short_name = export.short_name
        self.parameters = tuple(sorted(parameters.items()))
        self.game = export.factory(**parameters)
        self.info: GameInfo = self.game.info
        self.pays_at_end = export.reward_model == "terminal"
        self.actions, self.chance = action_tables(self.game, export.all_actions, export.all_chance_actions)
        self.root = Node(self, None, None, self.game.initial_state())

    def table(self, player: int) -> ActionTable:
        return self.chance if player == CHANCE else self.actions


def add_export(export: Export) -> None:
    """Makes an export known under its short name."""
    _EXPORTS[export.short_name] = export


def tables(short_name: str, parameters: Mapping[str, Parameter]) -> Tables:
    """Returns what the states of an exported game share, made once for the same parameters.

    Raises:
        GameError: no such game was registered in this process.
    """
    export = _EXPORTS.get(short_name)
    if export is None:
        raise GameError(f"{short_name!r} is not registered in this process; register it before its states are read.")
    full = {**export.parameters, **parameters}
    key = short_name, tuple(sorted(full.items()))
    if key not in _TABLES:
        _TABLES[key] = Tables(export, full)
    return _TABLES[key]


class Node:
    """One state in a history, never changed once made, so that clones share it and what it remembers.

    Attributes:
        tables: what all nodes of the game share.
        parent: the node before, None at the root.
        action: the action that led here.
        state: the game's own state.
        player: who moves.
        totals: rewards so far, by player.
        rewards: what the last action paid, by player.
    """

    __slots__ = (
        "_legal",
        "_observations",
        "_pasts",
        "action",
        "parent",
        "player",
        "rewards",
        "state",
        "tables",
        "totals",
    )

    def __init__(self, shared: Tables, parent: "Node | None", action: Action | None, state: State) -> None:
        self.tables, self.parent, self.action, self.state = shared, parent, action, state
        self.player = shared.game.current_player(state)
        self.rewards = shared.game.rewards(state)
        before = [0.0] * shared.info.num_players if parent is None else parent.totals
        self.totals: list[float] = [a + b for a, b in zip(before, self.rewards, strict=True)]
        self._legal: list[int] | None = None
        self._observations: list[Observation] | None = None
        self._pasts: dict[int, str] = {}

    def __deepcopy__(self, memo: Mapping[int, Any]) -> "Node":
        """Returns the node itself: OpenSpiel clones a state by a deep copy, and a node never changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.tables.short_name, self.tables.parameters, self.actions())

    def child(self, action: Action) -> "Node":
        return Node(self.tables, self, action, self.tables.game.apply_action(self.state, action))

    def actions(self) -> tuple[Action, ...]:
        """Returns the actions from the root to here."""
        backwards: list[Action] = []
        node: Node | None = self
        while node is not None and node.action is not None:
            backwards.append(node.action)
            node = node.parent
        return tuple(reversed(backwards))

    def text(self) -> str:
        """Returns the whole state, drawn by the game or a field a line, and below it the actions that led here.

        OpenSpiel's minimax and value iteration take it for a key: with the actions it is another one for each history,
        as what is saved up for the end may be.
        """
        game = self.tables.game
        if isinstance(game, RendersText):
            shown = game.render(self.state)
        else:
            state = state_to_json(game, self.state)
            fields = state.items() if isinstance(state, dict) else [("state", state)]
            shown = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields)
        return f"{shown}\nactions: {json.dumps(self.actions(), ensure_ascii=False)}"

    def legal(self) -> list[int]:
        """Returns the numbers of the legal actions, ascending."""
        if self._legal is None:
            table = self.tables.table(self.player)
            self._legal = sorted(table.number(action) for action in self.tables.game.legal_actions(self.state))
        return self._legal

    def observation(self, player: int) -> Observation:
        if self._observations is None:
            self._observations = self.tables.game.observations(self.state)
        return self._observations[player]

    def observation_text(self, player: int) -> str:
        return json.dumps(self.observation(player), sort_keys=True, ensure_ascii=False)

    def information_text(self, player: int) -> str:
        """Returns who looks, its decision points so far with its actions, and what it sees now; one line each.

        A game that words its information states itself (`StatesInformation`) is asked instead.
        """
        game = self.tables.game
        if isinstance(game, StatesInformation):
            return game.information_state_string(self.state, player)
        return f"player {player}\n{self._past(player)}{self.observation_text(player)}"

    def decisions(self, player: int) -> list[tuple[Observation, Action | None]]:
        """Returns the player's own decision points up to here, this node included, its action None."""
        found: list[tuple[Observation, Action | None]] = [(self.observation(player), None)]
        node = self
        while node.parent is not None:
            if node.parent.player == player:
                found.append((node.parent.observation(player), node.action))
            node = node.parent
        return found[::-1]

    def _past(self, player: int) -> str:
        """Returns the text of the decision points before this node; the nodes on the way remember theirs."""
        missing: list[Node] = []
        node = self
        while player not in node._pasts and node.parent is not None:
            missing.append(node)
            node = node.parent
        text = node._pasts.setdefault(player, "")
        for node in reversed(missing):
            parent = node.parent
            if parent is not None and parent.player == player:
                text += f"{parent.observation_text(player)} -> {node.action}\n"
            node._pasts[player] = text
        return text


def _restore(short_name: str, parameters: Iterable[tuple[str, Parameter]], actions: Iterable[Action]) -> Node:
    node = tables(short_name, dict(parameters)).root
    for action in actions:
        node = node.child(action)
    return node
