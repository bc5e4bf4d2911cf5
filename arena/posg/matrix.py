"""The matrix: methods that plan for one population, in games with members of another, by what they have for a move.

A cell is a tournament in a folder of its own, whose lineups play its episodes in turn; it is kept game by game, goes on
where it stopped, and is verified like every tournament. Chance and the co-players' luck are those of the episode, alike
for all cells.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.agents.posg import model_of
from arena.matches import store, tournament
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.posg.matrix_methods import MoveBudget
from arena.posg.matrix_plan import CellPlace, MatrixPlan
from arena.usage import UsageError
from cwm.storage import stored_json
from cwm.storage.differences import differences
from cwm.storage.files import write_whole
from games import registry

FILE: Final = "matrix.json"
FORMAT: Final = 1


@dataclass(frozen=True)
class MatrixCell:
    """What became of a cell.

    Attributes:
        place: which it is.
        returns: of the method by episode; undiscounted.
        moves: of the method by episode.
        fallbacks: moves that were not searched.
        forfeits: games that an agent lost without finishing them.
        seconds: of the method's moves, on average; None for no move. Depends on the machine.
        broken: what broke games through a fault of ours, one message each kind.
    """

    place: CellPlace
    returns: Mapping[int, float]
    moves: Mapping[int, int]
    fallbacks: int
    forfeits: int
    seconds: float | None
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """Cells of one game.

    Attributes:
        game: its id.
        seat: agent that methods are.
        bounds: lowest and highest return of that agent.
        episodes: of a cell.
        seed: of all chance.
        cells: those that were played, at least in part.
        lacking: methods that were not played, and why.
    """

    game: str
    seat: int
    bounds: tuple[float, float]
    episodes: int
    seed: int
    cells: tuple[MatrixCell, ...]
    lacking: tuple[str, ...] = ()


def play(
    plan: MatrixPlan,
    folder: Path | None,
    *,
    workers: int = 1,
    on_game: Callable[[int, int], None] = lambda done, total: None,
) -> Matrix:
    """Plays what is missing of a matrix.

    Args:
        plan: of `arena.posg.matrix_plan.planned`.
        folder: keeps the games, see `keep`; None keeps nothing.
        workers: processes; they change no result, but for budgets in seconds.
        on_game: told how many games are done, and of how many.

    Raises:
        AgentSpecError: an agent does not fit the game; nothing was played then.
        StoreError: the folder cannot be used.
    """
    asked, cells = plan.asked, list[MatrixCell]()
    prepared = [tournament.prepare(cell.tournament) for cell in plan.cells]
    total = asked.episodes * len(plan.cells)
    for number, (cell, config) in enumerate(zip(plan.cells, prepared, strict=True)):
        done = number * asked.episodes
        on_game(done, total)
        result = tournament.open_and_run(
            None if folder is None else folder / cell.folder,
            config,
            workers=workers,
            on_game=lambda state, done=done: on_game(done + state.done, total),  # type: ignore[misc]
        )
        deals = [game.deal for game in tournament.plan(config) if game.key not in result.missing]
        broken = tuple(dict.fromkeys(said for messages in result.missing.values() for said in messages))
        cells.append(_cell(cell.place, asked.seat, dict(zip(deals, result.records, strict=True)), broken))
    on_game(total, total)
    return Matrix(asked.game, asked.seat, _bounds(asked.game), asked.episodes, asked.seed, tuple(cells), plan.lacking)


def _bounds(game_id: str) -> tuple[float, float]:
    info = model_of(registry.make(game_id)).info
    return info.min_utility, info.max_utility


def _cell(place: CellPlace, seat: int, records: Mapping[int, GameRecord], broken: tuple[str, ...] = ()) -> MatrixCell:
    times = [spent for record in records.values() for spent in record.seconds[seat]]
    return MatrixCell(
        place,
        {deal: record.returns[seat] for deal, record in records.items()},
        {deal: sum(player == seat for player, _ in record.actions) for deal, record in records.items()},
        sum(sum(record.fallbacks[seat].values()) for record in records.values()),
        sum(record.forfeit is not None for record in records.values()),
        math.fsum(times) / len(times) if times else None,
        broken,
    )


def keep(folder: Path, plan: MatrixPlan) -> None:
    """Writes what a folder holds: its settings, which stay, its populations and its cells, which may come to be more.

    Raises:
        UsageError: it holds something else, or a method of that name with other settings.
        AgentSpecError: an agent does not fit the game; nothing was written then.
    """
    for cell in plan.cells:  # what fails before any game binds no folder to its settings
        tournament.prepare(cell.tournament)
    asked = plan.asked
    settings = {"game": asked.game, "episodes": asked.episodes, "seat": asked.seat, "seed": asked.seed}
    told = {name: list(found.identity) for name, found in plan.populations.items()}
    cells = {cell.folder: cell.to_json() for cell in plan.cells}
    if (folder / FILE).exists():
        kept = _read(folder)
        known = {name: members for name, members in told.items() if name in kept["populations"]}
        changed = differences({name: kept[name] for name in settings}, settings)
        changed = changed or differences({name: kept["populations"][name] for name in known}, known)
        if changed:
            raise UsageError(
                f"{folder} keeps another matrix ({'; '.join(changed)}): use another folder, or the settings it was "
                "made with."
            )
        _refuse_other_settings(plan, kept["read"])
        told, cells = kept["populations"] | told, {cell["folder"]: cell for cell in kept["cells"]} | cells
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} holds no matrix ({FILE} is missing): use an empty folder, or one of a matrix.")
    folder.mkdir(parents=True, exist_ok=True)
    data = {"format": FORMAT, **settings, "populations": told, "cells": list(cells.values())}
    write_whole(folder / FILE, json.dumps(data, indent=1) + "\n")


def _refuse_other_settings(plan: MatrixPlan, kept: Sequence[tuple[str, CellPlace]]) -> None:
    """Refuses two methods of one name, whose cells tables would merge."""
    for cell in plan.cells:
        place = cell.place
        for folder, known in kept:
            alike = (known.planned, known.met, known.budget) == (place.planned, place.met, place.budget)
            if known.method == place.method and (known.title != place.title or (alike and folder != cell.folder)):
                raise UsageError(
                    f"the method {place.method} has other settings there: give it another name with name=…, e.g. "
                    f"{place.method}-2."
                )


def _read(folder: Path) -> dict[str, Any]:
    def made(stored: dict[str, Any]) -> dict[str, Any]:
        if stored["format"] != FORMAT:
            raise ValueError(f"it has format {stored['format']}, this version reads {FORMAT}")
        wrong = [name for name, kind in _KEPT.items() if not isinstance(stored[name], kind)]
        if wrong:
            raise ValueError(f"its {wrong[0]} is {stored[wrong[0]]!r:.40}")
        return stored | {"read": [_read_cell(cell) for cell in stored["cells"]]}

    return stored_json.read(folder / FILE, made, UsageError, "give the folder of a matrix that `cwm posg matrix` kept")


_KEPT: Final = {"game": str, "episodes": int, "seat": int, "seed": int, "populations": dict, "cells": list}


def _read_cell(told: Mapping[str, Any]) -> tuple[str, CellPlace]:
    """Returns the folder and the place of a stored cell."""
    budget = None if told["budget"] is None else MoveBudget(**told["budget"])
    return told["folder"], CellPlace(
        told["method"], told["title"], told["planned"], told["met"], budget, told["inside"]
    )


def read(folder: Path) -> Matrix:
    """Returns what a folder keeps, also while games are added to it; nothing is played.

    Raises:
        UsageError: it keeps no matrix.
        StoreError: games of a cell cannot be read.
    """
    kept = _read(folder)
    cells = []
    for name, place in kept["read"]:
        if (folder / name / store.FILE_NAME).exists():
            found = store.read(folder / name)
            planned = tournament.plan(TournamentConfig.from_json(found.config))
            records = {game.deal: found.games[game.key] for game in planned if game.key in found.games}
            cells.append(_cell(place, kept["seat"], records))
    return Matrix(kept["game"], kept["seat"], _bounds(kept["game"]), kept["episodes"], kept["seed"], tuple(cells))


def is_matrix(folder: Path) -> bool:
    """Whether a folder keeps a matrix."""
    return (folder / FILE).is_file()
