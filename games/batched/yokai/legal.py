"""The legal actions of the player to move as packed words, uint32 [Y, W], and what is read off them.

Group 0, word 0, at sub-steps 1 and 2: bit i is `observe i`, bit Y is `end`. At sub-step 3 group i holds the targets of
card i; all words 0 means that only no-op is legal. At sub-step 4 group 0, word 0 holds bit k for `reveal k`, and group
1 + k the cells on which hint k may be placed. Within a sub-step the order of the bits is the order of the indices.
"""

import jax.numpy as jnp

from games.batched.api import Array, along, lanes_first
from games.batched.yokai.moves import bits, cell_words
from games.batched.yokai.state import FACE_DOWN, FACE_UP, Sizes, State


def pack(sizes: Sizes, state: State, moves: Array) -> Array:
    """Returns the packed legal actions, uint32 [Y, W].

    Args:
        sizes: of the configuration.
        state: its field `legal` is not read.
        moves: what `legal_moves` found, uint32 [Y, W].
    """
    sub_step = state.sub_step
    hidden = jnp.where(state.locked | state.seen, jnp.uint32(0), bits(sizes.cards, sub_step))
    observe = hidden.sum(axis=0, dtype=jnp.uint32)
    observe = observe | ((sub_step == 1).astype(jnp.uint32) << jnp.uint32(sizes.cards))
    face_down = jnp.where(state.status == FACE_DOWN, bits(sizes.hints, sub_step), jnp.uint32(0))
    reveal = face_down.sum(axis=0, dtype=jnp.uint32)
    free = jnp.where(state.locked[:, None], jnp.uint32(0), cell_words(sizes, state.cells)).sum(0, dtype=jnp.uint32)
    place = jnp.where((state.status == FACE_UP)[:, None], free[None], jnp.uint32(0))
    first = jnp.where(sub_step == 4, reveal, jnp.where((sub_step == 1) | (sub_step == 2), observe, jnp.uint32(0)))
    spare = jnp.zeros((1, sizes.words - 1, *sub_step.shape), jnp.uint32)
    group_0 = jnp.concatenate([first[None, None], spare], axis=1)
    rest = jnp.zeros((sizes.cards - 1 - sizes.hints, sizes.words, *sub_step.shape), jnp.uint32)
    hints = jnp.concatenate([group_0, jnp.where(sub_step == 4, place, jnp.uint32(0)), rest])
    return jnp.where(sub_step == 3, moves, hints)


def unpack(sizes: Sizes, state: State) -> Array:
    """Returns the legal actions of every player, bool [P, N]."""
    lanes = state.sub_step.ndim > 0
    legal = lanes_first(state.legal, lanes)
    sub_step = state.sub_step[..., None]
    places = jnp.arange(sizes.bits_per_word, dtype=jnp.uint32)
    cells = ((legal[..., None] >> places) & 1).astype(bool)
    cells = cells.reshape(*legal.shape[:-1], sizes.words * sizes.bits_per_word)[..., : sizes.area]
    numbers = jnp.arange(sizes.cards + 1, dtype=jnp.uint32)
    first = ((legal[..., 0, :1] >> numbers) & 1).astype(bool)
    early = (sub_step == 1) | (sub_step == 2)
    moves = cells.reshape(*cells.shape[:-2], -1) & (sub_step == 3)
    places = cells[..., 1 : 1 + sizes.hints, :]
    places = places.reshape(*places.shape[:-2], -1) & (sub_step == 4)
    reveals = first[..., : sizes.hints] & (sub_step == 4)
    none = ~(legal != 0).any(axis=(-1, -2))[..., None]
    own = jnp.concatenate(
        [none, first[..., :-1] & early, moves, reveals, places, first[..., -1:] & early],
        axis=-1,
    )
    players = jnp.arange(sizes.players)
    only_no_op = jnp.arange(sizes.actions) == 0
    mine = (state.player[..., None] == players)[..., None]
    return jnp.where(mine, own[..., None, :], only_no_op)


def count(state: State) -> Array:
    """Returns how many bits are set in the packed legal actions, int32 []: 0 where only no-op is legal."""
    return jnp.bitwise_count(state.legal).astype(jnp.int32).sum(axis=(0, 1))


def nth(sizes: Sizes, state: State, number: Array) -> Array:
    """Returns the index of the `number`-th (from 0) legal action of the player to move, no-op if it has no other.

    Args:
        sizes: of the configuration.
        state: the game.
        number: int32 [], below `count` unless that is 0.
    """
    counts = jnp.bitwise_count(state.legal).astype(jnp.int32)
    group, number = _locate(counts.sum(axis=1, dtype=jnp.int32), number)
    counts_in_group = jnp.take_along_axis(counts, group[None, None], axis=0)[0]
    which, number = _locate(counts_in_group, number)
    word = _word(state.legal, group * sizes.words + which)
    below = (jnp.uint32(2) << jnp.arange(sizes.bits_per_word, dtype=jnp.uint32)) - 1
    filled = jnp.bitwise_count(word[None] & along(below, word)).astype(jnp.int32)
    bit = (filled <= number).sum(axis=0, dtype=jnp.int32)
    return _action(sizes, state, group, which * sizes.bits_per_word + bit, counts.sum(axis=(0, 1)) == 0)


def _locate(counts: Array, number: Array) -> tuple[Array, Array]:
    """Returns which of the piles of sizes `counts` [X] holds the `number`-th item, and its number there."""
    passed = jnp.zeros_like(number)
    index = jnp.zeros_like(number)
    total = jnp.zeros_like(number)
    for size in counts[:-1]:
        total = total + size
        over = total <= number
        index = index + over
        passed = jnp.where(over, total, passed)
    return index, number - passed


def _word(legal: Array, index: Array) -> Array:
    flat = legal.reshape(-1, *legal.shape[2:])
    return jnp.take_along_axis(flat, index[None], axis=0)[0]


def _action(sizes: Sizes, state: State, group: Array, position: Array, nothing: Array) -> Array:
    observe = jnp.where(position == sizes.cards, sizes.end, 1 + position)
    move = sizes.first_move + group * sizes.area + position
    hint = jnp.where(group == 0, sizes.first_reveal + position, sizes.first_place + (group - 1) * sizes.area + position)
    chosen = jnp.where(state.sub_step == 3, move, jnp.where(state.sub_step == 4, hint, observe))
    return jnp.where(nothing, 0, chosen).astype(jnp.int32)


def is_legal(sizes: Sizes, state: State, action: Array) -> Array:
    """Whether the action, int32 [], is a legal one of the player to move, bool []."""
    area = sizes.area
    move, reveal, place = action - sizes.first_move, action - sizes.first_reveal, action - sizes.first_place
    is_move = (move >= 0) & (reveal < 0)
    is_place = (place >= 0) & (action < sizes.end)
    group = jnp.where(is_move, move // area, jnp.where(is_place, 1 + place // area, 0))
    first = jnp.where(action == sizes.end, sizes.cards, jnp.where(reveal >= 0, reveal, action - 1))
    position = jnp.where(is_move, move % area, jnp.where(is_place, place % area, first))
    fits = jnp.where(
        is_move,
        state.sub_step == 3,
        jnp.where(
            (reveal >= 0) & (action < sizes.end),
            state.sub_step == 4,
            (state.sub_step == 1) | (state.sub_step == 2),
        ),
    )
    in_range = (action > 0) & (action < sizes.actions)
    group, position = jnp.where(in_range, group, 0), jnp.where(in_range, position, 0)
    word = _word(state.legal, group * sizes.words + position // sizes.bits_per_word)
    bit = (word >> (position % sizes.bits_per_word).astype(jnp.uint32)) & 1
    return jnp.where(action == 0, (state.legal == 0).all(axis=(0, 1)), in_range & fits & (bit == 1))
