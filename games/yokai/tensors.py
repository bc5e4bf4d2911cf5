"""A view as arrays: image, graph and flat vector (the Yōkai paper, section 4 and D.2).

Channels, in order, with C colours: C card colour (one-hot, zeros if unknown), C hint colours, row / (g - 1),
column / (g - 1), locked, observer is the current player, sub-step / 4, (id + 1) / (number of cards, or of hints),
observed in the turn in progress (by the player whose turn it is; its colour is shown to that player alone).
The two channels about the turn fill every cell and node; at the end of a game, and while it is dealt, they are 0.
"""

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.api import Observation
from games.yokai.config import Config
from games.yokai.observe import seen_this_turn
from games.yokai.rules import turn_start

FloatArray: TypeAlias = NDArray[np.float32]
SUB_STEPS = 4


class Channels(NamedTuple):
    """Index of each channel; the colour blocks begin at 0 and at `hint`."""

    hint: int
    row: int
    column: int
    locked: int
    is_current: int
    sub_step: int
    identity: int
    observed: int
    total: int


class Graph(NamedTuple):
    """A view as a graph.

    Attributes:
        nodes: shape [Y + H, f], float32: cards, then hints.
        adjacency: shape [Y, Y], float32: 1 where two cards touch by a side; symmetric, zero diagonal.
    """

    nodes: FloatArray
    adjacency: FloatArray


@cache
def channels(config: Config) -> Channels:
    """Returns where each channel is: 11 channels for two colours, 13 for three, 15 for four."""
    colours = len(config.colours)
    return Channels(colours, *range(2 * colours, 2 * colours + 8))


def image_shape(config: Config) -> tuple[int, int, int]:
    """Returns (g, g + 1, f)."""
    return config.grid, config.grid + 1, channels(config).total


def node_features(view: Observation, config: Config) -> FloatArray:
    """Returns the features of all cards, then of all hints, shape [Y + H, f], float32.

    A placed hint has the position of its card, the others have -1 in both position channels.
    """
    at = channels(config)
    turn = [0.0] * at.total
    turn[at.is_current] = float(view["player"] == view["you"])
    turn[at.sub_step] = (view["sub_step"] or 0) / SUB_STEPS
    nodes = [list(turn) for _ in range(config.cards + config.hints)]
    side = config.grid - 1
    for card, (row, column) in enumerate(view["positions"]):
        node = nodes[card]
        colour = view["colours"][card]
        if colour is not None:
            node[config.colours.index(colour)] = 1.0
        node[at.row] = row / side
        node[at.column] = column / side
        node[at.locked] = float(view["locked"][card])
        node[at.identity] = (card + 1) / config.cards
    in_progress = view["recent_actions"][turn_start(view) - _first_index(view, config) :]
    for card in seen_this_turn(in_progress):
        nodes[card][at.observed] = 1.0
    _fill_hints(nodes, view, config, at)
    return np.array(nodes, dtype=np.float32)


def _first_index(view: Observation, config: Config) -> int:
    """Index in the full log of the first of the view's recent actions."""
    return max(0, turn_start(view) - 4 * config.players)


def _fill_hints(nodes: list[list[float]], view: Observation, config: Config, at: Channels) -> None:
    hints = view["hints"]
    for index, hint in enumerate(hints):
        node = nodes[config.cards + index]
        node[at.identity] = (index + 1) / len(hints)
        node[at.row] = node[at.column] = -1.0
        if hint["status"] == "face down":
            continue
        placed = hint["status"] == "placed"
        shows = nodes[hint["card"]] if placed else node
        for colour in hint["colours"]:
            shows[at.hint + config.colours.index(colour)] = 1.0
        if placed:
            node[at.locked] = 1.0
            node[at.row], node[at.column] = shows[at.row], shows[at.column]


def graph(view: Observation, config: Config) -> Graph:
    """Returns the view as node features and the adjacency of the cards."""
    return Graph(node_features(view, config), adjacency(view))


def adjacency(view: Observation) -> FloatArray:
    """Returns which cards touch by a side, shape [Y, Y], float32."""
    positions = np.array(view["positions"])
    distance = np.abs(positions[:, None, :] - positions[None, :, :]).sum(axis=2)
    touching: FloatArray = (distance == 1).astype(np.float32)
    return touching


def image(view: Observation, config: Config) -> FloatArray:
    """Returns the view as an image, shape [g, g + 1, f], float32; the extra column's cell `k` is hint `k`."""
    return image_of(node_features(view, config), view, config)


def image_of(nodes: FloatArray, view: Observation, config: Config) -> FloatArray:
    """Returns the image of a view whose node features are known already."""
    at = channels(config)
    picture = np.zeros(image_shape(config), dtype=np.float32)
    picture[:, :, at.is_current] = view["player"] == view["you"]
    picture[:, :, at.sub_step] = (view["sub_step"] or 0) / SUB_STEPS
    rows, columns = zip(*view["positions"], strict=True)
    picture[rows, columns] = nodes[: config.cards]
    picture[: len(view["hints"]), config.grid] = nodes[config.cards :]
    picture[:, config.grid, [at.row, at.column]] = 0
    return picture


def flat(view: Observation, config: Config) -> FloatArray:
    """Returns the image in C order, shape [g * (g + 1) * f], float32: OpenSpiel's observation tensor."""
    return image(view, config).reshape(-1)
