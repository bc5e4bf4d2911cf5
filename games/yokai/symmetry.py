"""The symmetries of Yōkai on states, actions, masks and observations.

A symmetry permutes the colours and turns the grid; on request it also mirrors the grid and permutes the hints' indices.
The start, a square or a ring, keeps its place when the grid is turned, but only if the cards change their names too:
card i becomes the card whose start cell is the image of i's. That is the default. With `relabel=False` the cards keep
their ids, as in the Yōkai paper; the start is then not mapped to a start.

Functions on arrays take NumPy and JAX arrays alike, and the number of a symmetry may be a traced JAX scalar.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.api import Action, GameError
from games.yokai.config import Config
from games.yokai.rules import YokaiState
from games.yokai.tensors import channels, image_shape

AnyArray: TypeAlias = Any
"""A NumPy or a JAX array."""
Table: TypeAlias = NDArray[np.int32]
TURNS: Final = 4
LISTED_HINTS: Final = 5
"""So many hints at most are permuted in all ways."""


class SymmetryTables(NamedTuple):
    """Permutations of all E symmetries; `X_to[e][i]` is the image of i, `X_from` the inverse.

    Attributes:
        colour_to: [E, C].
        cell_to: [E, g²].
        cell_from: [E, g²].
        card_to: [E, Y].
        card_from: [E, Y].
        hint_to: [E, H].
        hint_from: [E, H].
        action_to: [E, N].
        action_from: [E, N].
        channel_from: [E, f]: for the colour channels.
        subset_to: [E, 2^C]: images of colour sets as bit masks.
    """

    colour_to: Table
    cell_to: Table
    cell_from: Table
    card_to: Table
    card_from: Table
    hint_to: Table
    hint_from: Table
    action_to: Table
    action_from: Table
    channel_from: Table
    subset_to: Table


@dataclass(frozen=True)
class Element:
    """One symmetry in words.

    Attributes:
        colours: index of the image of each colour.
        turns: quarter turns, (row, column) -> (column, g - 1 - row) each.
        mirrored: the columns are reversed before the grid is turned.
        hints: image of each hint's index.
    """

    colours: tuple[int, ...]
    turns: int
    mirrored: bool
    hints: tuple[int, ...]


class Symmetries:
    """Symmetries of one configuration, numbered from 0; number 0 changes nothing.

    Attributes:
        config: the configuration.
        elements: what each number stands for.
        tables: their permutations.
    """

    def __init__(
        self,
        config: Config,
        relabel: bool = True,
        colours: bool = True,
        turns: bool = True,
        mirror: bool = False,
        hints: bool | Sequence[Sequence[int]] = False,
    ) -> None:
        """Lists a group, or with chosen permutations of the hints a part of one.

        Args:
            config: the configuration.
            relabel: cards change their ids with the grid; False: the paper's rotation.
            colours: permute the colours.
            turns: turn the grid.
            mirror: mirror the grid too: all 8 symmetries of the square.
            hints: permute the hints' indices: in all H! ways, with at most 5 hints; or in these ways, each the list
                of every hint's new index.

        Raises:
            GameError: there are too many ways to permute the hints, or one of those given is no permutation.
        """
        self.config = config
        numbers = range(len(config.colours))
        hint_ways = _hint_permutations(config, hints)
        self.elements = [
            Element(colour, turn, mirrored, hint)
            for colour, mirrored, turn, hint in product(
                permutations(numbers) if colours else [tuple(numbers)],
                (False, True) if mirror else (False,),
                range(TURNS if turns else 1),
                hint_ways,
            )
        ]
        self.tables = _tables(config, self.elements, relabel)
        self._actions = config.player_actions()
        self._index = {action: index for index, action in enumerate(self._actions)}

    def __len__(self) -> int:
        return len(self.elements)

    def action(self, number: AnyArray, index: AnyArray) -> AnyArray:
        """Returns the image of an action's index; a scalar or an array of them."""
        return _row(self.tables.action_to, number, index)[index]

    def inverse_action(self, number: AnyArray, index: AnyArray) -> AnyArray:
        """Returns the action whose image has that index."""
        return _row(self.tables.action_from, number, index)[index]

    def mask(self, number: AnyArray, mask: AnyArray) -> AnyArray:
        """Returns the image of a mask of actions, [..., N]."""
        return mask[..., _row(self.tables.action_from, number, mask)]

    def image(self, number: AnyArray, image: AnyArray) -> AnyArray:
        """Returns the image of an image observation, float32 [..., g, g + 1, f]."""
        side, at = self.config.grid, channels(self.config)
        xp = image.__array_namespace__()
        board = image[..., :side, :].reshape(*image.shape[:-3], side * side, at.total)
        board = board[..., _row(self.tables.cell_from, number, image), :]
        column = image[..., side, :][..., _row(self._hint_column_from(), number, image), :]
        board = self._channels(number, board)
        column = self._channels(number, column)
        cells = np.arange(side * side)
        rows, columns = np.float32(cells // side / (side - 1)), np.float32(cells % side / (side - 1))
        present = board[..., at.identity] > 0
        board = self._set(xp, board, at.row, xp.where(present, xp.asarray(rows), np.float32(0)))
        board = self._set(xp, board, at.column, xp.where(present, xp.asarray(columns), np.float32(0)))
        named = self._card_names(number, board[..., at.identity], self.config.cards, self.tables.card_to)
        board = self._set(xp, board, at.identity, named)
        ids = np.zeros(side, np.float32)
        ids[: self.config.hints] = (np.arange(self.config.hints) + 1) / self.config.hints
        column = self._set(xp, column, at.identity, xp.broadcast_to(xp.asarray(ids), column.shape[:-1]))
        board = board.reshape(*image.shape[:-3], side, side, at.total)
        return xp.concatenate([board, column[..., :, None, :]], axis=-2)

    def flat(self, number: AnyArray, vector: AnyArray) -> AnyArray:
        """Returns the image of a flat observation, float32 [..., g * (g + 1) * f]."""
        shape = image_shape(self.config)
        return self.image(number, vector.reshape(*vector.shape[:-1], *shape)).reshape(*vector.shape)

    def graph(self, number: AnyArray, nodes: AnyArray, adjacency: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Returns the image of a graph observation.

        Args:
            number: of the symmetry.
            nodes: float32 [..., Y + H, f].
            adjacency: float32 [..., Y, Y].
        """
        config, at = self.config, channels(self.config)
        xp = nodes.__array_namespace__()
        cards, hints = config.cards, config.hints
        card_from = _row(self.tables.card_from, number, nodes)
        moved = xp.concatenate([card_from, cards + _row(self.tables.hint_from, number, nodes)])
        nodes = self._channels(number, nodes[..., moved, :])
        side = config.grid
        place = xp.round(nodes[..., [at.row, at.column]] * (side - 1)).astype(np.int32)
        nowhere = nodes[..., at.row] < 0
        cell = xp.where(nowhere, 0, place[..., 0] * side + place[..., 1])
        target = _row(self.tables.cell_to, number, nodes)[cell]
        fractions = xp.asarray(np.float32(np.arange(side) / (side - 1)))
        nodes = self._set(xp, nodes, at.row, xp.where(nowhere, np.float32(-1), fractions[target // side]))
        nodes = self._set(xp, nodes, at.column, xp.where(nowhere, np.float32(-1), fractions[target % side]))
        ids = np.concatenate([(np.arange(cards) + 1) / cards, (np.arange(hints) + 1) / hints]).astype(np.float32)
        nodes = self._set(xp, nodes, at.identity, xp.broadcast_to(xp.asarray(ids), nodes.shape[:-1]))
        return nodes, adjacency[..., card_from, :][..., card_from]

    def action_string(self, number: int, action: Action) -> Action:
        """Returns the image of a player's action in words."""
        return self._actions[int(self.tables.action_to[number, self._index[action]])]

    def state(self, number: int, state: YokaiState) -> YokaiState:
        """Returns the image of a dealt state of the reference game, its log included."""
        tables, words, side = self.tables, self.config.colours, self.config.grid
        colour = {word: words[tables.colour_to[number, index]] for index, word in enumerate(words)}
        card_to = tables.card_to[number]

        def cell(position: Sequence[int]) -> list[int]:
            target = int(tables.cell_to[number, position[0] * side + position[1]])
            return [target // side, target % side]

        def hint(old: dict[str, Any]) -> dict[str, Any]:
            shown = sorted((colour[word] for word in old["colours"]), key=words.index)
            return {**old, "colours": shown, "card": None if old["card"] is None else int(card_to[old["card"]])}

        cards_from, hints_from = tables.card_from[number], tables.hint_from[number]
        return {
            **state,
            "colours": [colour[state["colours"][card]] for card in cards_from],
            "positions": [cell(state["positions"][card]) for card in cards_from],
            "locked": [state["locked"][card] for card in cards_from],
            "hints": [hint(state["hints"][index]) for index in hints_from],
            "observed": [sorted(int(card_to[card]) for card in own) for own in state["observed"]],
            "log": [self.action_string(number, action) for action in state["log"]],
        }

    def _channels(self, number: AnyArray, features: AnyArray) -> AnyArray:
        return features[..., _row(self.tables.channel_from, number, features)]

    def _hint_column_from(self) -> Table:
        spare = np.arange(self.config.hints, self.config.grid, dtype=np.int32)
        return np.concatenate([self.tables.hint_from, np.tile(spare, (len(self), 1))], axis=1)

    def _card_names(self, number: AnyArray, values: AnyArray, count: int, table: Table) -> AnyArray:
        xp = values.__array_namespace__()
        index = xp.round(values * count).astype(np.int32)
        names = xp.asarray(np.float32(np.arange(count + 1) / count))
        to = _row(table, number, values)
        return xp.where(index > 0, names[to[xp.maximum(index - 1, 0)] + 1], np.float32(0))

    @staticmethod
    def _set(xp: Any, features: AnyArray, channel: int, values: AnyArray) -> AnyArray:
        return xp.where(np.arange(features.shape[-1]) == channel, values[..., None], features)


def _hint_permutations(config: Config, hints: bool | Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Returns the chosen permutations of the hints' indices, the one that changes nothing first."""
    unchanged = tuple(range(config.hints))
    if hints is True and config.hints > LISTED_HINTS:
        raise GameError(
            f"{config.id} has {config.hints}! permutations of hints, too many to list: give `hints` a list of some."
        )
    if isinstance(hints, bool):
        return list(permutations(unchanged)) if hints else [unchanged]
    for given in hints:
        if sorted(given) != list(unchanged):
            raise GameError(
                f"{list(given)} is no permutation of {config.id}'s {config.hints} hints: give each index once."
            )
    return list(dict.fromkeys([unchanged, *(tuple(given) for given in hints)]))


def _row(table: Table, number: AnyArray, like: AnyArray) -> AnyArray:
    """Returns one row of a table as an array of the kind that `like`, or else the number, is."""
    for value in (like, number):
        if hasattr(value, "__array_namespace__") and not isinstance(value, np.ndarray | np.generic):
            return value.__array_namespace__().asarray(table)[number]
    return table[number]


def _tables(config: Config, elements: Sequence[Element], relabel: bool) -> SymmetryTables:
    colour_to = np.array([element.colours for element in elements], np.int32)
    cell_to = np.stack([_cells(config.grid, element) for element in elements])
    start = np.array([row * config.grid + column for row, column in config.start_positions()])
    identity = np.tile(np.arange(config.cards, dtype=np.int32), (len(elements), 1))
    card_to = np.stack([np.searchsorted(start, cells[start]) for cells in cell_to]) if relabel else identity
    hint_to = np.array([element.hints for element in elements], np.int32)
    action_to = np.stack([_actions(config, *maps) for maps in zip(card_to, cell_to, hint_to, strict=True)])
    colour_from = np.argsort(colour_to, axis=1)
    count = len(config.colours)
    rest = np.tile(np.arange(2 * count, channels(config).total), (len(elements), 1))
    subsets = np.arange(1 << count)[:, None] >> np.arange(count) & 1
    return SymmetryTables(
        colour_to=colour_to,
        cell_to=cell_to,
        cell_from=_inverse(cell_to),
        card_to=card_to.astype(np.int32),
        card_from=_inverse(card_to),
        hint_to=hint_to,
        hint_from=_inverse(hint_to),
        action_to=action_to,
        action_from=_inverse(action_to),
        channel_from=np.concatenate([colour_from, colour_from + count, rest], axis=1).astype(np.int32),
        subset_to=np.stack([(subsets << to).sum(axis=1) for to in colour_to]).astype(np.int32),
    )


def _inverse(table: NDArray[Any]) -> Table:
    inverse: Table = np.argsort(table, axis=1).astype(np.int32)
    return inverse


def _cells(side: int, element: Element) -> Table:
    rows, columns = np.divmod(np.arange(side * side), side)
    if element.mirrored:
        columns = side - 1 - columns
    for _ in range(element.turns):
        rows, columns = columns, side - 1 - rows
    cells: Table = (rows * side + columns).astype(np.int32)
    return cells


def _actions(config: Config, card_to: Table, cell_to: Table, hint_to: Table) -> Table:
    area, cards, hints = config.grid**2, config.cards, config.hints
    first_move = 1 + cards
    first_reveal = first_move + cards * area
    first_place = first_reveal + hints
    moves = first_move + card_to[:, None] * area + cell_to[None]
    places = first_place + hint_to[:, None] * area + cell_to[None]
    parts = [[0], 1 + card_to, moves.reshape(-1), first_reveal + hint_to, places.reshape(-1)]
    actions: Table = np.concatenate([*parts, [first_place + hints * area]]).astype(np.int32)
    return actions
