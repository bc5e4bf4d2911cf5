"""What the players of batched Hanabi see: OpenSpiel's canonical encoding, bit for bit.

Hands of the others and who lacks a card; deck, fireworks, tokens; discards; the last move; what hints told of all
cards. Players are told relative to who looks. Everything is a flag until the end.
"""

import jax.numpy as jnp

from games.batched.api import Array, along, lanes_first
from games.batched.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, NOTHING, PLAY, HanabiArrays, HanabiTables

TYPES = (PLAY, DISCARD, HINT_COLOUR, HINT_RANK)
"""Types of moves in the order of the encoding."""


def features(sizes: HanabiTables, state: HanabiArrays, counted: bool) -> Array:
    """Returns what every player sees, float32 [P, F].

    Args:
        sizes: of the variant.
        state: the game.
        counted: of every card, tell how likely each kind is by the public count instead of whether it is possible.
    """
    lanes = state.player.ndim > 0
    knowledge = _knowledge(sizes, state, counted)
    kinds = _one_hot(state.cards, sizes.kinds, axis=2)
    lacks = state.cards[:, -1] == NOTHING
    board = _board(sizes, state)
    player, target, move = _move(sizes, state)
    seen = []
    for observer in range(sizes.players):
        others, everybody = _from(kinds, observer)[1:], _from(knowledge, observer)
        parts = [_flat(others), _from(lacks, observer), board]
        parts += [_from(player, observer), move[:4], _from(target, observer), move[4:], _flat(everybody)]
        seen.append(jnp.concatenate([part.astype(jnp.float32) for part in parts]))
    return lanes_first(jnp.stack(seen), lanes)


def _from(rows: Array, observer: int) -> Array:
    """Returns rows by player, those of `observer` first."""
    return jnp.roll(rows, -observer, axis=0)


def _flat(cards: Array) -> Array:
    """Returns [P, H, f] as [P * H * f]."""
    return cards.reshape(-1, *cards.shape[3:])


def _one_hot(values: Array, count: int, axis: int) -> Array:
    """Returns flags along a new axis; all are down where a value is `NOTHING`."""
    ends = values.ndim - axis
    return jnp.expand_dims(values, axis) == jnp.arange(count).reshape(count, *[1] * ends)


def _bits(words: Array, count: int) -> Array:
    """Returns the bits of words [P, H] along a new axis, bool [P, H, count]."""
    places = jnp.arange(count, dtype=jnp.uint8).reshape(count, *[1] * (words.ndim - 2))
    return ((words[:, :, None] >> places) & 1) == 1


def _board(sizes: HanabiTables, state: HanabiArrays) -> Array:
    """Returns deck, fireworks, tokens and discards, bool."""

    def filled(value: Array, count: int) -> Array:
        return along(jnp.arange(count), value) < value[None]

    left = sizes.cards - state.dealt
    fireworks = _one_hot(state.fireworks - 1, sizes.ranks, axis=1)
    parts = [
        filled(left, sizes.cards - sizes.players * sizes.hand),
        fireworks.reshape(-1, *fireworks.shape[2:]),
        filled(state.info, sizes.config.info),
        filled(state.lives, sizes.config.lives),
    ]
    parts += [filled(state.discards[kind], count) for kind, count in enumerate(sizes.counts)]
    return jnp.concatenate(parts)


def _move(sizes: HanabiTables, state: HanabiArrays) -> tuple[Array, Array, Array]:
    """Returns who moved, bool [P], whom a hint was given, bool [P], and the rest of the last move, bool."""
    last = state.last
    kind, value, offset = (jnp.asarray(column, jnp.int32)[last.action] for column in sizes.table.T)
    moved = last.player != NOTHING
    kind = jnp.where(moved, kind, NOTHING)
    hints = (kind == HINT_COLOUR) | (kind == HINT_RANK)
    takes = (kind == PLAY) | (kind == DISCARD)
    target = jnp.where(hints, (last.player + offset) % sizes.players, NOTHING)
    parts = [
        jnp.stack([kind == one for one in TYPES]),
        _one_hot(jnp.where(kind == HINT_COLOUR, value, NOTHING), sizes.colours, axis=0),
        _one_hot(jnp.where(kind == HINT_RANK, value, NOTHING), sizes.ranks, axis=0),
        last.touched,
        _one_hot(jnp.where(takes, value, NOTHING), sizes.hand, axis=0),
        _one_hot(last.card, sizes.kinds, axis=0),
        last.scored[None],
        last.returned[None],
    ]
    return _one_hot(last.player, sizes.players, axis=0), _one_hot(target, sizes.players, axis=0), jnp.concatenate(parts)


def _knowledge(sizes: HanabiTables, state: HanabiArrays, counted: bool) -> Array:
    """Returns of every card what kinds hints leave, and what colour and rank were told, [P, H, K + C + R]."""
    colours, ranks = _bits(state.colours, sizes.colours), _bits(state.ranks, sizes.ranks)
    shape = (*state.cards.shape[:2], sizes.kinds, *state.cards.shape[2:])
    possible = (colours[:, :, :, None] & ranks[:, :, None]).reshape(shape)
    told_colour = colours & state.told_colour[:, :, None]
    told_rank = ranks & state.told_rank[:, :, None]
    if not counted:
        return jnp.concatenate([possible, told_colour, told_rank], axis=2)
    weights = jnp.where(possible, left_to_see(sizes, state)[None, None], 0).astype(jnp.float32)
    chances = weights / jnp.maximum(weights.sum(axis=2, keepdims=True), 1)
    return jnp.concatenate([chances, told_colour.astype(jnp.float32), told_rank.astype(jnp.float32)], axis=2)


def left_to_see(sizes: HanabiTables, state: HanabiArrays) -> Array:
    """Returns how many cards of each kind are neither discarded nor in a firework, int32 [K]."""
    rank = along(jnp.arange(sizes.kinds) % sizes.ranks, state.player)
    played = jnp.repeat(state.fireworks, sizes.ranks, axis=0) > rank
    return along(jnp.asarray(sizes.counts), state.player) - state.discards - played
