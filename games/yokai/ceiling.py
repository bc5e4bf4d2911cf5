"""What players of Yōkai get who see all cards: the fewest moves that gather every colour.

A turn holds one move of a card and one hint, and the hint costs: 3 to reveal one, 1 to place a revealed one rightly. So
after m moves at best 5·H - 3·⌈m/2⌉ - ⌊m/2⌋ is left of H hints. With nine cards and up to four moves that much is always
had: the one hint placed before the last move locks one card, at least three have a colour of the hint, and after that
at most two are moved. With more moves it is a bound from above. The search for the fewest moves is exhaustive.
"""

import random
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from games.yokai.config import Config
from games.yokai.grid import Grid, grid

Words: TypeAlias = tuple[int, ...]
"""The cells of every colour, as bit words: cards of one colour are alike."""


def deal(configuration: Config, seed: int) -> Words:
    """Returns where the cards of every colour lie at the start of a random deal."""
    colours = [number for number in range(len(configuration.colours)) for _ in range(configuration.cards_per_colour)]
    random.Random(seed).shuffle(colours)
    bits = grid(configuration.grid).bits
    words = [0] * len(configuration.colours)
    for colour, (row, column) in zip(colours, configuration.start_positions(), strict=True):
        words[colour] |= bits[row][column]
    return tuple(words)


def score(configuration: Config, moves: int) -> int:
    """Returns what a win is worth after so many moves, hints taken in turn and placed rightly."""
    return 5 * configuration.hints - 3 * -(-moves // 2) - moves // 2


def fewest_moves(board: Grid, words: Words) -> int:
    """Returns how few moves gather every colour."""
    moves = 0
    while not _can(board, words, moves, set()):
        moves += 1
    return moves


def _can(board: Grid, words: Words, moves: int, seen: set[tuple[Words, int]]) -> bool:
    """Returns whether so many moves, or fewer, gather every colour.

    Args:
        board: the grid.
        words: the position.
        moves: at most.
        seen: positions with the moves that did not do; those found here are added.
    """
    missing = [colour for colour, word in enumerate(words) if not board.is_connected(word)]
    if len(missing) > moves or (words, moves) in seen:
        return False
    # A move changes one colour: with as many colours open as moves are left, only theirs are of use.
    chosen = missing if len(missing) == moves else range(len(words))
    if not missing or any(_can(board, after, moves - 1, seen) for after in _after(board, words, chosen)):
        return True
    seen.add((words, moves))
    return False


def _after(board: Grid, words: Words, colours: Sequence[int]) -> Iterator[Words]:
    """Yields the positions after one legal move of a card of the given colours."""
    occupied = sum(words)
    for colour in colours:
        rest = words[colour]
        while rest:
            card = rest & -rest
            rest ^= card
            targets = board.targets(occupied ^ card) & ~card
            while targets:
                cell = targets & -targets
                targets ^= cell
                yield (*words[:colour], words[colour] ^ card | cell, *words[colour + 1 :])
