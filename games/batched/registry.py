"""Finds batched games by id. Importing this module loads no game and no JAX; `make` does."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Final, cast

from games.api import DEFAULT_VIEW, GameError
from games.extras import install
from games.posg.overcooked_v2 import layouts

if TYPE_CHECKING:
    from games.batched.game import BatchedGame, ShapedTableReader, TableReader

MEMORY: Final = "memory"
"""The view that helps a player's memory, where a game has one."""
COUNTED: Final = "v0"
"""The view of Hanabi that tells how likely each card is by the public count, in place of which ones are possible."""
JAXMARL: Final = frozenset({"jaxmarl", "chex", "gymnax", "jaxtyping", "matplotlib", "PIL", "six"})
"""Packages that come with the extra `jaxmarl` alone."""

SIMULTANEOUS: Final = (
    "cooperative-reaching",
    "driving",
    "foraging",
    "foraging-random",
    "predator-prey",
    "pursuit-evasion",
)
"""Games of simultaneous moves."""


@dataclass(frozen=True)
class BatchedEntry:
    """Where a batched game lives, and what is to be known of it without JAX.

    Attributes:
        id: what `make` takes.
        factory: `module:function` that returns the game, given `params`.
        params: fixed by the id.
        differential: the module that compares it with its reference; its `BATCH` games run side by side, and
            `compare_in_batches(id, games, seed, first)` yields a `games.batched.differential.DifferentialReport`; None:
            there is no reference here.
        views: what its players may be shown.
        symmetries: titles of its kinds of Other-Play, by name.
        extra: what is installed for its environment beside JAX; empty: nothing.
        table: `module:factory` of what reads the game at the table, given `params`, where that needs no environment;
            empty: `BatchedGame.table`.
    """

    id: str
    factory: str
    params: Mapping[str, int | str]
    differential: str | None = None
    views: tuple[str, ...] = (DEFAULT_VIEW,)
    symmetries: Mapping[str, str] = field(default_factory=dict)
    extra: str = ""
    table: str = ""


def _yokai(cards: int, players: int) -> BatchedEntry:
    return BatchedEntry(
        id=f"yokai-{cards}c-{players}p",
        factory="games.batched.yokai.game:make",
        params={"cards": cards, "players": players},
        differential="games.batched.yokai.differential",
        views=(DEFAULT_VIEW, MEMORY),
        symmetries={
            "op": "Other-Play, colours and rotations",
            "op-rot": "Other-Play, rotations",
            "op-col": "Other-Play, colours",
            "op-paper": "Other-Play, colours and rotations, cards keep their ids (the paper's rotation)",
            "op-rot-paper": "Other-Play, rotations, cards keep their ids (the paper's rotation)",
        },
    )


def _hanabi(name: str, players: int, hand: int, *small: int) -> BatchedEntry:
    colours, ranks, info, lives = small or (5, 5, 8, 3)
    sizes = {"players": players, "colours": colours, "ranks": ranks, "hand": hand, "info": info, "lives": lives}
    return BatchedEntry(
        id=f"hanabi-{name}",
        factory="games.batched.hanabi.game:make",
        params=sizes,
        differential="games.batched.hanabi.differential",
        views=(DEFAULT_VIEW, COUNTED),
        symmetries={"op-col": "Other-Play, colours"},
        table="games.batched.hanabi.table:HanabiTable",
    )


def _overcooked(game_id: str) -> BatchedEntry:
    layout, _ = layouts.parse(game_id)
    return BatchedEntry(
        id=game_id,
        factory="games.batched.overcooked_v2.game:make",
        params={"game_id": game_id},
        differential="games.batched.overcooked_v2.differential",
        extra="jaxmarl",
        table="games.batched.overcooked_v2.table:OvercookedTable",
        symmetries={"op-ing": "Other-Play, ingredients"} if layout.symmetric else {},
    )


def _simultaneous(game_id: str) -> BatchedEntry:
    return BatchedEntry(
        id=game_id,
        factory="games.batched.posg.game:make",
        params={"game_id": game_id},
        differential="games.batched.posg.differential",
    )


_ENTRIES: Final = {
    entry.id: entry
    for entry in (
        *(_yokai(cards, players) for cards in (9, 16) for players in (2, 3, 4)),
        _yokai(8, 2),
        *(_hanabi(f"{players}p", players, 5 if players < 4 else 4) for players in (2, 3, 4, 5)),
        _hanabi("mini-2p", 2, 3, 3, 3, 5, 3),
        _hanabi("small-2p", 2, 2, 2, 5, 3, 1),
        _hanabi("tiny-2p", 2, 2, 1, 5, 3, 1),
        *(_overcooked(layout.id) for layout in layouts.LAYOUTS),
        *map(_simultaneous, SIMULTANEOUS),
    )
}


def ids() -> list[str]:
    """Returns the ids of all batched games."""
    return list(_ENTRIES)


def symmetries() -> dict[str, str]:
    """Returns the kinds of Other-Play of all batched games: titles by name."""
    return {name: title for entry in _ENTRIES.values() for name, title in entry.symmetries.items()}


def describe(game_id: str) -> BatchedEntry:
    """Returns where a batched game lives; games with options are described by the one id of all that mean the same.

    Raises:
        GameError: no batched game has that id.
    """
    if str(game_id).split(",")[0] in layouts.BY_ID:
        return _overcooked(layouts.canonical(game_id))
    if game_id not in _ENTRIES:
        raise GameError(f"There is no batched game {game_id!r}; known: {', '.join(_ENTRIES)}.")
    return _ENTRIES[game_id]


def make(game_id: str) -> "BatchedGame":
    """Returns a batched game; needs JAX, and for games of JaxMARL the extra of that name.

    Raises:
        GameError: no batched game has that id, or the extra is not installed.
    """
    entry = describe(game_id)
    module, name = entry.factory.split(":")
    try:
        with _streams_kept():
            factory = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in JAXMARL:
            raise
        raise GameError(
            f"{entry.id} is a game of JaxMARL, which needs {error.name}, and that is not installed; "
            f"run: {install('jaxmarl')}."
        ) from error
    return cast("BatchedGame", factory(**entry.params))


def table_of(game_id: str) -> "TableReader | None":
    """Returns what reads a game at the table; None where nothing does.

    Raises:
        GameError: as for `make`, where the game itself has to be made for it.
    """
    alone = table_alone(game_id)
    if alone is not None:
        return alone
    reader = make(game_id).table
    return None if reader is None else reader()


def table_alone(game_id: str) -> "ShapedTableReader | None":
    """Returns what reads a game at the table without its environment, and what is installed for that; None where
    nothing does.

    Raises:
        GameError: no batched game has that id.
    """
    entry = describe(game_id)
    if not entry.table:
        return None
    module, name = entry.table.split(":")
    return cast("ShapedTableReader", getattr(importlib.import_module(module), name)(**entry.params))


@contextmanager
def _streams_kept() -> Iterator[None]:
    """Lets an import print nothing, and leaves the streams of this process as they are.

    JaxMARL prints a greeting when it is imported, which is no part of what our commands print; and one of its modules
    puts the process's first streams in the place of those that are there.
    """
    names = ("stdout", "stderr", "__stdout__", "__stderr__")
    kept = {name: getattr(sys, name) for name in names}
    try:
        sys.stdout = sys.__stdout__ = StringIO()  # type: ignore[misc, assignment]
        sys.__stderr__ = sys.stderr  # type: ignore[misc, assignment]
        yield
    finally:
        for name, stream in kept.items():
            setattr(sys, name, stream)
