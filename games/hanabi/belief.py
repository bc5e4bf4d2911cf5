"""What a hand may be: exact counts, chances and samples of arrangements, without rejection or listing.

A forward and backward pass over the kinds of cards; between two kinds, all that matters is which slots are filled.
Standard library alone, so that it runs beside a model.
"""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from games.api import GameError

Mask: TypeAlias = tuple[str, str]
"""Colours (letters) and ranks (digits) that one slot may have."""


def arrangements(unseen: Mapping[str, int], masks: Sequence[Mask]) -> int:
    """Returns in how many ways the unseen cards can lie in the slots; copies of a card count apart.

    Args:
        unseen: copies of each card, such as `R1`, that may be anywhere.
        masks: what each slot may be.
    """
    return _backward(*_problem(unseen, masks))[0][0]


def chances(unseen: Mapping[str, int], masks: Sequence[Mask]) -> list[dict[str, Fraction]]:
    """Returns for each slot the chance of every card that it may be, all arrangements equally likely.

    Args:
        unseen: copies of each card that may be anywhere.
        masks: what each slot may be.

    Raises:
        GameError: no arrangement fits.
    """
    copies, fits, slots = _problem(unseen, masks)
    later = _backward(copies, fits, slots)
    if not later[0][0]:
        raise _impossible(unseen, masks)
    found: list[dict[str, Fraction]] = [{} for _ in masks]
    earlier = [1] + [0] * ((1 << slots) - 1)
    for kind, card in enumerate(unseen):
        weights, following, counts = _weights(copies[kind], slots), earlier.copy(), [0] * slots
        for filled, ways in enumerate(earlier):
            free = fits[kind] & ~filled
            new = free if ways else 0
            while new:
                weight = weights[new.bit_count()] * ways
                if weight:
                    following[filled | new] += weight
                    weight *= later[kind + 1][filled | new]
                    for slot in range(slots):
                        counts[slot] += weight if new >> slot & 1 else 0
                new = (new - 1) & free
        for slot, count in enumerate(counts):
            if count:
                found[slot][card] = Fraction(count, later[0][0])
        earlier = following
    return found


def sample(unseen: Mapping[str, int], masks: Sequence[Mask], rng: random.Random) -> list[str]:
    """Returns the cards of one arrangement, each arrangement equally likely.

    Args:
        unseen: copies of each card that may be anywhere.
        masks: what each slot may be.
        rng: source of the choice.

    Raises:
        GameError: no arrangement fits.
    """
    copies, fits, slots = _problem(unseen, masks)
    later = _backward(copies, fits, slots)
    if not later[0][0]:
        raise _impossible(unseen, masks)
    found = [""] * slots
    filled = 0
    for kind, card in enumerate(unseen):
        new = _choice(
            later[kind + 1], _weights(copies[kind], slots), filled, fits[kind], rng.randrange(later[kind][filled])
        )
        for slot in range(slots):
            if new >> slot & 1:
                found[slot] = card
        filled |= new
    return found


def _choice(later: Sequence[int], weights: Sequence[int], filled: int, fits: int, point: int) -> int:
    """Returns the set of free slots in whose share of all arrangements `point` lies."""
    free = fits & ~filled
    new = free
    while new:
        point -= weights[new.bit_count()] * later[filled | new]
        if point < 0:
            return new
        new = (new - 1) & free
    return 0


def _problem(unseen: Mapping[str, int], masks: Sequence[Mask]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Returns copies of each kind, the set of slots that each fits, as bits, and how many slots there are."""
    fits = tuple(
        sum(1 << slot for slot, (colours, ranks) in enumerate(masks) if card[0] in colours and card[1] in ranks)
        for card in unseen
    )
    return tuple(unseen.values()), fits, len(masks)


@lru_cache(maxsize=256)
def _backward(copies: tuple[int, ...], fits: tuple[int, ...], slots: int) -> tuple[tuple[int, ...], ...]:
    """Returns, from each kind on and for each set of filled slots, in how many ways the others can be filled."""
    full = (1 << slots) - 1
    rows = [(*[0] * full, 1)]
    for count, fit in zip(reversed(copies), reversed(fits), strict=True):
        following, weights = rows[-1], _weights(count, slots)
        row = list(following)
        for filled in range(full):
            free = new = fit & ~filled
            while new:
                row[filled] += weights[new.bit_count()] * following[filled | new]
                new = (new - 1) & free
        rows.append(tuple(row))
    return tuple(reversed(rows))


@lru_cache(maxsize=256)
def _weights(copies: int, slots: int) -> tuple[int, ...]:
    """Returns in how many ways 0, 1, … slots can be filled, in order, from so many copies of one card."""
    weights = [1]
    for filled in range(slots):
        weights.append(weights[-1] * max(0, copies - filled))
    return tuple(weights)


def _impossible(unseen: Mapping[str, int], masks: Sequence[Mask]) -> GameError:
    return GameError(f"no cards of {dict(unseen)} fit slots that may be {list(masks)}: pass a history of one game.")
