"""Reads OpenSpiel's text of a state, the one place that tells all of it; a line that is not known is an error."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from games.api import GameError

_HAND_ENDS: Final = "-----"
_MOVER: Final = "Cur player"
_CARD: Final = re.compile(r"([RYGWB][1-5]) \|\| ([RYGWBX])([1-5X])\|([RYGWB]+)([1-5]+)")
_FIREWORKS: Final = re.compile(r"Fireworks: ((?:[RYGWB][0-5] )+)")
_DISCARDS: Final = re.compile(r"Discards:((?: [RYGWB][1-5])*)")
_NUMBERS: Final = tuple(re.compile(rf"{name}: (\d+)") for name in ("Life tokens", "Info tokens", "Deck size"))


class Slot(NamedTuple):
    """One card in a hand: what it is, what its holder was told of it, and what hints leave possible.

    Attributes:
        card: such as `R1`.
        told_colour: a letter, None if no hint named it.
        told_rank: a number, None if no hint named it.
        colours: letters that hints leave possible.
        ranks: digits that hints leave possible.
    """

    card: str
    told_colour: str | None
    told_rank: int | None
    colours: str
    ranks: str


class Table(NamedTuple):
    """All that the text of a state says.

    Attributes:
        lives: life tokens.
        info: information tokens.
        fireworks: by colour, the rank of its last card.
        hands: by player, oldest card first.
        deck_size: cards left.
        discards: discarded cards and those played wrongly, oldest first.
        mover: who is to move, None for chance and at the end.
    """

    lives: int
    info: int
    fireworks: dict[str, int]
    hands: tuple[tuple[Slot, ...], ...]
    deck_size: int
    discards: tuple[str, ...]
    mover: int | None


@lru_cache(maxsize=2048)
def read(text: str) -> Table:
    """Returns what OpenSpiel's text of a state says; nobody changes it, since it is remembered.

    Raises:
        GameError: a line is not as expected.
    """
    lines = text.split("\n")
    if len(lines) < 6 or lines[3] != "Hands:":
        raise _changed(text, "\n".join(lines[:4]))
    lives, info = (_number(_NUMBERS[at], lines[at], text) for at in (0, 1))
    deck_size = _number(_NUMBERS[2], lines[-2], text)
    fireworks, discards = _FIREWORKS.fullmatch(lines[2]), _DISCARDS.fullmatch(lines[-1])
    if fireworks is None or discards is None:
        raise _changed(text, lines[-1] if fireworks else lines[2])
    hands: list[list[Slot]] = [[]]
    mover = None
    for line in lines[4:-2]:
        if line == _HAND_ENDS:
            hands.append([])
        elif line == _MOVER and mover is None and not hands[-1]:
            mover = len(hands) - 1
        else:
            slot = _slot(line)
            if slot is None:
                raise _changed(text, line)
            hands[-1].append(slot)
    return Table(
        lives,
        info,
        {pile[0]: int(pile[1]) for pile in fireworks[1].split()},
        tuple(map(tuple, hands)),
        deck_size,
        tuple(discards[1].split()),
        mover,
    )


@lru_cache(maxsize=1 << 15)
def _slot(line: str) -> Slot | None:
    match = _CARD.fullmatch(line)
    if match is None:
        return None
    card, colour, rank, colours, ranks = match.groups()
    return Slot(card, None if colour == "X" else colour, None if rank == "X" else int(rank), colours, ranks)


def _number(pattern: re.Pattern[str], line: str, text: str) -> int:
    match = pattern.fullmatch(line)
    if match is None:
        raise _changed(text, line)
    return int(match[1])


def _changed(text: str, line: str) -> GameError:
    return GameError(f"OpenSpiel's text of a Hanabi state has changed: unknown {line!r} in {text!r}.")
