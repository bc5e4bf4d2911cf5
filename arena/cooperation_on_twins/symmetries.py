"""Symmetries of a twin's game: renamings of its actions and outcomes under which games of it stay what they are.

Candidates are read off the names: two words that change places, and turns and mirrors of the cells that pairs of
numbers stand for, with other numbers turned along or not. What is kept was confirmed by games of the twin: each is
played a second time under the other names, and at every step the same player is to move, what is legal and what chance
may do are the same but for their names, and what is paid is the same. What follows from several of them is one, too.
Renamings that change the order of deals, too, as turning a grid of hidden cards does, are not found.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from math import isqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.cooperation_on_twins.environment import Renaming
from cwm.twins.compiled import CompiledTwin
from cwm.twins.form import Rows, TwinForm
from cwm.twins.play import CHANCE, TERMINAL
from cwm.twins.traced import TwinProblemError

GAMES: Final = 256
"""By which a symmetry is confirmed."""
MOST_STEPS: Final = 4000
MOST: Final = 1 << 22
"""Numbers of which all renamings of actions consist, at most."""
MOST_WORDS: Final = 40
TOLERANCE: Final = 1e-5
PARTS: Final = re.compile(r"\d+|[A-Za-z_]+|[^A-Za-z_\d]+")
ALONG, MIRRORED = "turned along", "mirrored"
WAYS: Final = ("", ALONG, MIRRORED)
"""What is done to numbers that are no cells: nothing, turned as cells of a square are, counted from the other end."""
JOINED: Final = re.compile(r"[A-Za-z_]+(?:-[A-Za-z_]+)+")

Turn = Callable[[int, int, int], tuple[int, int]]
"""Where a cell of a grid of n rows goes: (row, column, n)."""
TURNS: Final[dict[str, Turn]] = {
    "rows and columns change places": lambda row, column, size: (column, row),
    "rows are mirrored": lambda row, column, size: (size - 1 - row, column),
    "columns are mirrored": lambda row, column, size: (row, size - 1 - column),
}


class PossibleSymmetry(NamedTuple):
    """A renaming that may be a symmetry.

    Attributes:
        title: in words.
        actions: int32 [A], what each action is called.
        outcomes: int32 [C], likewise.
    """

    title: str
    actions: NDArray[np.int32]
    outcomes: NDArray[np.int32]


class Symmetries(NamedTuple):
    """Those of a game.

    Attributes:
        titles: of the confirmed renamings that all others follow from.
        renaming: all of them, the first of which changes nothing.
    """

    titles: tuple[str, ...]
    renaming: Renaming

    def __len__(self) -> int:
        return len(self.renaming.actions)


def find(form: TwinForm, twin: CompiledTwin, seed: int, on_candidate: Callable[[int, int], None]) -> Symmetries:
    """Returns the symmetries of a twin's game that can be read off its names; it has at least that of no change.

    Args:
        form: of the twin.
        twin: plays the games.
        seed: of these games.
        on_candidate: told how many candidates were tried, and how many there are.

    Raises:
        TwinProblemError: the process of the twin ended, or gave no answer in time.
    """
    found = _same(form)
    known = list(candidates(form))
    for number, candidate in enumerate(known):
        # What follows from others needs no games.
        if not _holds(found.renaming, candidate) and confirmed(form, twin, candidate, seed):
            found = _closed(found, candidate)
        on_candidate(number + 1, len(known))
    return found


def candidates(form: TwinForm) -> Iterator[PossibleSymmetry]:
    """Yields renamings under which the lists of actions and outcomes stay the same lists, each once."""
    seen = {_key(_row(form.actions), _row(form.outcomes))}
    for title, rename in (*_swapped_words(form), *_turned(form)):
        actions, outcomes = _places(form.actions, rename), _places(form.outcomes, rename)
        if actions is None or outcomes is None:
            continue
        key = _key(actions, outcomes)
        if key not in seen:
            seen.add(key)
            yield PossibleSymmetry(title, actions, outcomes)


def confirmed(form: TwinForm, twin: CompiledTwin, candidate: PossibleSymmetry, seed: int, games: int = GAMES) -> bool:
    """Whether games of the twin stay what they are under other names.

    Args:
        form: of the twin.
        twin: plays the games, random ones.
        candidate: the other names.
        seed: of the games.
        games: how many.
    """
    draws = np.random.default_rng(seed)
    whole, real = twin.init()
    one: Rows = np.repeat(whole, games, axis=0), np.repeat(real, games, axis=0)
    other = one
    for _ in range(MOST_STEPS):
        seen, renamed = _looked(form, twin, one), _looked(form, twin, other)
        if not _alike(seen, renamed, candidate):
            return False
        going = seen["player"] != TERMINAL
        if not going.any():
            return True
        one, other, seen = _only(one, going), _only(other, going), {name: part[going] for name, part in seen.items()}
        acts = seen["player"] != CHANCE
        index = np.where(acts, _drawn(seen["legal"], draws), _drawn(seen["chance"], draws) if form.outcomes else 0)
        names = candidate.outcomes[index % max(1, len(form.outcomes))] if form.outcomes else index
        following = np.where(acts, candidate.actions[index % len(form.actions)], names)
        one, other = twin.step(one, index.astype(np.int32)), twin.step(other, following.astype(np.int32))
    return True


def _looked(form: TwinForm, twin: CompiledTwin, rows: Rows) -> dict[str, NDArray[Any]]:
    """Returns what a twin's process says of games, if it has the form that was asked for."""
    found = twin.look(rows)
    shapes = {
        "player": (),
        "legal": (len(form.actions),),
        "chance": (len(form.outcomes),),
        "rewards": (form.num_players,),
    }
    games = len(rows[0])
    if len(rows[1]) != games or any(
        name not in found or found[name].shape != (games, *shape) for name, shape in shapes.items()
    ):
        raise TwinProblemError("the process of the compiled twin did not answer in the form that was asked for")
    return found


def _alike(seen: dict[str, NDArray[Any]], renamed: dict[str, NDArray[Any]], candidate: PossibleSymmetry) -> bool:
    return (
        bool((seen["player"] == renamed["player"]).all())
        and bool((seen["legal"] == renamed["legal"][:, candidate.actions]).all())
        and np.allclose(seen["chance"], renamed["chance"][:, candidate.outcomes], atol=TOLERANCE)
        and np.allclose(seen["rewards"], renamed["rewards"], atol=TOLERANCE)
    )


def _drawn(weights: NDArray[Any], draws: np.random.Generator) -> NDArray[np.intp]:
    """Returns places drawn by weights, [N]; anything where all are 0."""
    sums = np.cumsum(weights.astype(np.float64), axis=1)
    bars = draws.random(len(weights)) * sums[:, -1] * (1 - TOLERANCE)
    found: NDArray[np.intp] = np.argmax(sums > bars[:, None], axis=1)
    return found


def _only(rows: Rows, chosen: NDArray[np.bool_]) -> Rows:
    return rows[0][chosen], rows[1][chosen]


def _swapped_words(form: TwinForm) -> Iterator[tuple[str, Callable[[str], str]]]:
    names = (*form.actions, *form.outcomes)
    words = sorted({part for name in names for part in PARTS.findall(name) if part[0].isalpha()})
    for first, second in combinations(words if len(words) <= MOST_WORDS else (), 2):
        swap = {first: second, second: first}
        yield f"{first} and {second} change places", lambda name, swap=swap: _renamed(name, swap)  # type: ignore[misc]


def _renamed(name: str, swap: dict[str, str]) -> str:
    return "".join(swap.get(part, part) for part in PARTS.findall(name))


def _turned(form: TwinForm) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Yields turns of cells, and of other numbers, those of which there are equally many alike."""
    board = _Board((*form.actions, *form.outcomes))
    turns: list[tuple[str, Turn | None]] = [*TURNS.items()] if board.size else [("", None)]
    kinds = sorted(set(board.counts.values()))
    for (title, turn), ways in product(turns, product(WAYS, repeat=len(kinds))):
        chosen = dict(zip(kinds, ways, strict=True))
        told = [f"numbers below {count} are {way}" for count, way in chosen.items() if way]
        yield ", ".join([title, *told] if title else told), partial(board.moved, turn=turn, ways=chosen)


class _Board:
    """Which numbers of names are cells, and how large the others become.

    Attributes:
        size: rows, and columns, of the grid of cells; 0: there is none.
        counts: of other numbers, by the name's other parts and the place in it: the largest, plus 1.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.size = 0
        self.counts: dict[tuple[tuple[str, ...], int], int] = {}
        for parts in map(PARTS.findall, names):
            for place, is_cell in _numbers(parts):
                if is_cell:
                    self.size = max(self.size, int(parts[place]) + 1, int(parts[place + 2]) + 1)
                else:
                    key = _frame(parts), place
                    self.counts[key] = max(self.counts.get(key, 0), int(parts[place]) + 1)

    def moved(self, name: str, turn: Turn | None, ways: dict[int, str]) -> str:
        """Returns what a name becomes.

        Args:
            name: of an action or outcome.
            turn: of cells.
            ways: of other numbers, by how many there are.
        """
        parts = PARTS.findall(name)
        frame = _frame(parts)
        for place, is_cell in _numbers(list(parts)):
            number = int(parts[place])
            if is_cell and turn is not None:
                row, column = turn(number, int(parts[place + 2]), self.size)
                parts[place], parts[place + 2] = str(row), str(column)
            elif not is_cell:
                count = self.counts[frame, place]
                side = isqrt(count)
                if ways[count] == MIRRORED:
                    parts[place] = str(count - 1 - number)
                elif ways[count] == ALONG and turn is not None and side * side == count:
                    row, column = turn(number // side, number % side, side)
                    parts[place] = str(row * side + column)
        return "".join(parts)


def _numbers(parts: list[str]) -> Iterator[tuple[int, bool]]:
    """Yields the places of numbers, and whether they are the first of a cell, "row,column"."""
    place = 0
    while place < len(parts):
        if parts[place].isdigit():
            is_cell = parts[place + 1 : place + 2] == [","] and parts[place + 2 : place + 3] != []
            is_cell = is_cell and parts[place + 2].isdigit()
            yield place, is_cell
            place += 2 if is_cell else 0
        place += 1


def _frame(parts: list[str]) -> tuple[str, ...]:
    return tuple("#" if part.isdigit() else part for part in parts)


def _closed(found: Symmetries, candidate: PossibleSymmetry) -> Symmetries:
    """Returns all that follow from some and one more; those alone, if they would be too many."""
    elements = list(zip(found.renaming.actions, found.renaming.outcomes, strict=True))
    known = {_key(*element) for element in elements}
    makers = [*elements, (candidate.actions, candidate.outcomes)]
    at = 0
    while at < len(elements):
        actions, outcomes = elements[at]
        at += 1
        for own, chance in makers:
            made = own[actions], chance[outcomes]
            if _key(*made) not in known:
                known.add(_key(*made))
                elements.append(made)
                if len(elements) * len(candidate.actions) > MOST:
                    return found
    actions_of, outcomes_of = (np.stack(part) for part in zip(*elements, strict=True))
    return Symmetries((*found.titles, candidate.title), Renaming(actions_of, outcomes_of))


def _holds(renaming: Renaming, candidate: PossibleSymmetry) -> bool:
    known = zip(renaming.actions, renaming.outcomes, strict=True)
    return any(_key(*element) == _key(candidate.actions, candidate.outcomes) for element in known)


def _same(form: TwinForm) -> Symmetries:
    return Symmetries((), Renaming(_row(form.actions)[None], _row(form.outcomes)[None]))


def _row(names: Sequence[str]) -> NDArray[np.int32]:
    return np.arange(len(names), dtype=np.int32)


def _key(actions: NDArray[np.int32], outcomes: NDArray[np.int32]) -> bytes:
    return actions.tobytes() + outcomes.tobytes()


def _places(names: Sequence[str], rename: Callable[[str], str]) -> NDArray[np.int32] | None:
    """Returns at which place of a list each of its names stands when it is renamed; None: it is another list."""
    known = {_sorted_words(name): place for place, name in enumerate(names)}
    found = [known.get(_sorted_words(rename(name))) for name in names]
    if len(known) < len(names) or None in found or len(set(found)) < len(names):
        return None
    return np.array(found, np.int32)


def _sorted_words(name: str) -> str:
    """Returns a name whose words joined by hyphens stand in order: "green-red" and "red-green" mean the same."""
    return JOINED.sub(lambda match: "-".join(sorted(match[0].split("-"))), name)
