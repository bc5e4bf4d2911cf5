"""Who plays with whom: lineups of a tournament, as indices of its agents."""

from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement
from typing import Literal, TypeAlias

Pairing: TypeAlias = Literal["all", "cross", "self"]


def paired(agents: int, players: int, pairing: Pairing) -> Iterator[tuple[int, ...]]:
    """Yields lineups of as many agents as the game seats.

    Args:
        agents: how many there are.
        players: how many the game seats.
        pairing: `all` of them; `cross`: those with two different agents or more; `self`: those of one with itself.
    """
    for lineup in combinations_with_replacement(range(agents), players):
        alone = len(set(lineup)) == 1
        if pairing == "all" or alone == (pairing == "self"):
            yield lineup


def lone_and_rest(candidates: int, players: int, alone: bool) -> Iterator[tuple[int, ...]]:
    """Yields the distinct seatings in which one agent holds one seat and another the rest, over all ordered pairs.

    Args:
        candidates: how many agents there are.
        players: how many the game seats.
        alone: whether an agent also plays with itself.
    """
    seen: set[tuple[int, ...]] = set()
    for one, two in combinations_with_replacement(range(candidates), 2):
        if one == two and not alone:
            continue
        for lone, rest in ((one, two), (two, one)):
            lineup = (lone, *[rest] * (players - 1))
            for shift in range(players):
                seats = (*lineup[shift:], *lineup[:shift])
                if seats not in seen:
                    seen.add(seats)
                    yield seats


def shared(agents: int, players: int, seats: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Yields every agent alone, then lineups of two of them.

    Args:
        agents: how many there are.
        players: how many the game seats.
        seats: how many the first of two agents holds; none and all of them are those alone.
    """
    for one in range(agents):
        yield (one,) * players
    held = [count for count in seats if 0 < count < players]
    for one, two in combinations(range(agents), 2):
        for count in held:
            yield (one,) * count + (two,) * (players - count)
