"""`cwm paper --paper overcooked`: Figure 3 and Cat-Dog, learned at once, Tables 1 and 2 as far as ours are trained."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.figures.sheet import Sheet
from arena.machine import accelerated
from arena.papers.overcooked.published.cells import TABLES, TITLE
from arena.papers.overcooked.tables import beside, figure3
from arena.papers.overcooked.tables.returns import TrainedCross
from arena.papers.overcooked.tables.two_steps import button_game, cat_dog
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.usage import UsageError
from cwm.storage.files import write_whole

NAME: Final = "overcooked"
"""What `--paper` calls it."""
FILE: Final = "overcooked.md"
FIGURE_3: Final = "figure-3"
CAT_DOG: Final = "cat-dog"
NAMES: Final = (FIGURE_3, CAT_DOG, *(table.name for table in TABLES))


@dataclass(frozen=True)
class OvercookedWishes:
    """What was asked for.

    Attributes:
        tables: names with commas, None for all.
        run: a folder of trainings, or one that holds several; None for none.
        output: a folder for the tables as Markdown, None for none.
    """

    tables: str | None
    run: Path | None
    output: Path | None


def show(asked: OvercookedWishes, as_json: bool) -> None:
    """Prints the tables; pairs of trained policies that were not played yet are, and kept beside their training.

    Raises:
        UsageError: there is no such table, or no finished training in the folder.
        GameError: trained policies are to be played, and the extras `learn` and `jaxmarl` are not installed.
        LearnError: a policy cannot be read.
    """
    chosen = _chosen(asked.tables)
    found: list[Sheet] = []
    if FIGURE_3 in chosen:
        found.append(figure3.sheet(button_game(), "Figure 3"))
    if CAT_DOG in chosen:
        found.append(figure3.sheet(cat_dog(), "payments are ours; section 4 names the game"))
    returns = [name for name in chosen if name in {table.name for table in TABLES}]
    if returns:
        played = [] if asked.run is None else _played(asked.run)
        found += beside.sheets(played, () if asked.tables is None else returns)
    if asked.output is not None:
        asked.output.mkdir(parents=True, exist_ok=True)
        write_whole(asked.output / FILE, _markdown(found))
        console.notices.print(f"tables: {asked.output / FILE}")
    if as_json:
        tables = [{"title": sheet.title, "rows": _rows(sheet), "note": sheet.note} for sheet in found]
        console.print_json({"paper": TITLE, "tables": tables})
        return
    console.out.print(TITLE)
    for sheet in found:
        console.out.print(sheet)


def _played(folder: Path) -> list[TrainedCross]:
    trained = accelerated.load("arena.papers.overcooked.tables.trained")
    found = []
    for training in trained.trainings(folder):
        with counted_bar(f"pairs of {training.name}") as told:
            found.append(trained.played(training, told))
    return found


def _chosen(tables: str | None) -> list[str]:
    if tables is None:
        return list(NAMES)
    chosen = [name.strip() for name in tables.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in NAMES]
    if unknown or not chosen:
        raise UsageError(f"--tables names {unknown[0] if unknown else ''!r}: of this paper, {', '.join(NAMES)}.")
    return chosen


def _rows(sheet: Sheet) -> list[dict[str, Any]]:
    return [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]


def _markdown(found: Sequence[Sheet]) -> str:
    return f"# {TITLE}\n" + "".join(f"\n## {sheet.title}\n\n{sheet.markdown()}\n{sheet.note}\n" for sheet in found)
