"""Observations of batched Yōkai: image, graph and flat vector, bit for bit those of `games.yokai.tensors`.

What a card, a hint or a cell shows is first packed into one word of bit fields; the channels are then read off the
words in one pass. Channels that are not small whole numbers are carried as the bits of their float32 values.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from games.batched.api import Array, along, lanes_first
from games.batched.yokai.moves import either, neighbours
from games.batched.yokai.state import FACE_UP, OVER, PLACED, Sizes, State
from games.yokai.config import ACTIONS_PER_TURN


class BatchedGraph(NamedTuple):
    """What every player sees as a graph.

    Attributes:
        nodes: float32 [P, Y + H, f]: cards, then hints.
        adjacency: float32 [Y, Y]: the same for every player.
    """

    nodes: Array
    adjacency: Array


class _Fields:
    """Where each field begins in a word: colours, hint colours, then these."""

    def __init__(self, colours: int) -> None:
        self.hint = colours
        self.present = 2 * colours
        self.locked = self.present + 1
        self.seen = self.present + 2
        self.current = self.present + 3
        self.sub_step = self.present + 4


def _channel_table(sizes: Sizes) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns, by channel, the shift and the mask of its field; the channel of identities gets an empty field."""
    at = _Fields(sizes.colours)
    shifts = [*range(2 * sizes.colours), at.present, at.present, at.locked, at.current, at.sub_step, 0, at.seen]
    masks = [1] * (len(shifts) - 3) + [7, 0, 1]
    return np.array(shifts, np.uint32), np.array(masks, np.uint32)


def _float_bits(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    return values.astype(np.float32).view(np.uint32)


def _identities(count: int) -> NDArray[np.uint32]:
    return _float_bits((np.arange(count) + 1) / count)


def _known(state: State, players: int, memory: bool) -> Array:
    """Returns whether each player is shown the colour of each card, bool [P, Y]."""
    if memory:
        return state.observed
    mine = state.player[None] == along(jnp.arange(players), state.player)
    return mine[:, None] & state.seen[None]


def _card_words(sizes: Sizes, state: State, memory: bool) -> Array:
    """Returns the packed fields of every card for every player, uint32 [P, Y]."""
    at = _Fields(sizes.colours)
    cards = along(jnp.arange(sizes.cards), state.sub_step)
    lies_here = (state.status == PLACED)[None] & (state.hint_card[None] == cards[:, None])
    on_card = jnp.where(lies_here, state.hints[None], 0).sum(axis=1, dtype=jnp.uint32)
    word: Array = (on_card << at.hint) | jnp.uint32(1 << at.present)
    word = word | (state.locked.astype(jnp.uint32) << at.locked) | (state.seen.astype(jnp.uint32) << at.seen)
    colour: Array = jnp.uint32(1) << state.colours.astype(jnp.uint32)
    known: Array = jnp.where(_known(state, sizes.players, memory), colour[None], jnp.uint32(0))
    return word[None] | known


def _hint_words(sizes: Sizes, state: State) -> Array:
    """Returns the packed fields of every hint, the same for every player, uint32 [H]."""
    at = _Fields(sizes.colours)
    shown = jnp.where(state.status == FACE_UP, state.hints, 0).astype(jnp.uint32) << at.hint
    return shown | ((state.status == PLACED).astype(jnp.uint32) << at.locked)


def _turn_word(sizes: Sizes, state: State) -> Array:
    """Returns the two fields that fill all cells and nodes, uint32 [P]."""
    at = _Fields(sizes.colours)
    mine = state.player[None] == along(jnp.arange(sizes.players), state.player)
    now = jnp.where(state.sub_step == OVER, 0, state.sub_step).astype(jnp.uint32)
    return (mine.astype(jnp.uint32) << at.current) | (now[None] << at.sub_step)


def _channels(sizes: Sizes, words: Array, scale: NDArray[np.float32]) -> Array:
    """Returns the fields of `words` as float32 with a last axis of channels, each times its scale."""
    shifts, masks = _channel_table(sizes)
    return ((words[..., None] >> shifts) & masks).astype(jnp.float32) * scale


def image(sizes: Sizes, state: State, memory: bool) -> Array:
    """Returns what every player sees as an image, float32 [P, g, g + 1, f].

    Args:
        sizes: of the configuration.
        state: the game.
        memory: show all colours that the player ever observed, not only those of the turn in progress.
    """
    side, lanes = sizes.side, state.sub_step.ndim > 0
    place = along(jnp.arange(sizes.area), state.sub_step)
    cards = _card_words(sizes, state, memory)
    words = jnp.zeros((), jnp.uint32)
    identity = jnp.zeros((), jnp.uint32)
    for card, bits in enumerate(_identities(sizes.cards)):
        here = state.cells[card][None] == place
        words = words | jnp.where(here[None], cards[:, card, None], jnp.uint32(0))
        identity = identity | jnp.where(here, jnp.uint32(bits), jnp.uint32(0))
    spare = jnp.zeros((side - sizes.hints, *state.sub_step.shape), jnp.uint32)
    column = jnp.concatenate([_hint_words(sizes, state), spare])
    column = jnp.broadcast_to(column, (sizes.players, *column.shape))
    words = words.reshape(sizes.players, side, side, *words.shape[2:])
    words = jnp.concatenate([words, column[:, :, None]], axis=2) | _turn_word(sizes, state)[:, None, None]
    id_bits = np.concatenate([_identities(sizes.hints), np.zeros(side - sizes.hints, np.uint32)])
    hint_ids = jnp.broadcast_to(along(id_bits, state.sub_step), (side, *state.sub_step.shape))
    identity = jnp.concatenate([identity.reshape(side, side, *identity.shape[1:]), hint_ids[:, None]], axis=1)
    drawn = _channels(sizes, lanes_first(words, lanes), _image_scale(sizes))
    values = jax.lax.bitcast_convert_type(lanes_first(identity, lanes), jnp.float32)
    is_identity = np.arange(sizes.channels) == sizes.channels - 2
    return jnp.where(is_identity, values[..., None, :, :, None], drawn)


def _image_scale(sizes: Sizes) -> NDArray[np.float32]:
    """Returns what the fields are multiplied with, [g, g + 1, f]; the extra column has no position."""
    side = sizes.side
    scale = np.ones((side, side + 1, sizes.channels), np.float32)
    fractions = (np.arange(side) / (side - 1)).astype(np.float32)
    row, column, sub_step = 2 * sizes.colours, 2 * sizes.colours + 1, 2 * sizes.colours + 4
    scale[:, :, row] = fractions[:, None]
    scale[:, :side, column] = fractions
    scale[:, :, sub_step] = 1 / ACTIONS_PER_TURN
    return scale


def graph(sizes: Sizes, state: State, memory: bool) -> BatchedGraph:
    """Returns what every player sees as a graph; arguments as for `image`."""
    lanes = state.sub_step.ndim > 0
    cards = _card_words(sizes, state, memory)
    hints = jnp.broadcast_to(_hint_words(sizes, state), (sizes.players, *state.status.shape))
    words = jnp.concatenate([cards, hints], axis=1) | _turn_word(sizes, state)[:, None]
    drawn = _channels(sizes, lanes_first(words, lanes), _node_scale(sizes))
    card_cells = lanes_first(state.cells, lanes)
    card_of = lanes_first(state.hint_card, lanes)
    hint_cells = jnp.take_along_axis(card_cells, jnp.maximum(card_of, 0), axis=-1)
    cells = jnp.concatenate([card_cells, jnp.where(card_of >= 0, hint_cells, -1)], axis=-1)
    side = sizes.side
    fractions = jnp.asarray((np.arange(side) / (side - 1)).astype(np.float32))
    placed = cells >= 0
    rows = jnp.where(placed, fractions[cells // side], jnp.float32(-1))[..., None, :, None]
    columns = jnp.where(placed, fractions[cells % side], jnp.float32(-1))[..., None, :, None]
    identity = np.concatenate([_identities(sizes.cards), _identities(sizes.hints)]).view(np.float32)
    channel = np.arange(sizes.channels)
    row = 2 * sizes.colours
    nodes = jnp.where(channel == row, rows, jnp.where(channel == row + 1, columns, drawn))
    nodes = jnp.where(channel == sizes.channels - 2, identity[:, None], nodes)
    touching = lanes_first(either(neighbours(sizes, state.cells)), lanes)
    adjacency = (touching[..., None] >> np.arange(sizes.cards, dtype=np.uint32)) & 1
    return BatchedGraph(nodes, adjacency.astype(jnp.float32))


def _node_scale(sizes: Sizes) -> NDArray[np.float32]:
    scale = np.ones(sizes.channels, np.float32)
    scale[2 * sizes.colours + 4] = 1 / ACTIONS_PER_TURN
    return scale
