"""`cwm paper --paper posggym`: what the paper and its raw results report, beside matrices of `cwm posg matrix`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.figures.sheet import Sheet
from arena.papers.posggym.published.cells import RAW, TITLE
from arena.papers.posggym.tables import drawn
from arena.papers.posggym.tables.beside import SHEETS, sheets
from arena.posg import matrix
from arena.posg.matrix import Matrix
from arena.terminal import console
from arena.usage import UsageError
from cwm.storage.files import write_whole

NAME: Final = "posggym"
"""What `--paper` calls it."""
FILE: Final = "posggym.md"
PAGE: Final = "posggym.html"


@dataclass(frozen=True)
class PosggymWishes:
    """What was asked for.

    Attributes:
        tables: names with commas, None for all.
        run: a folder of a matrix, or one that holds several; None for none.
        output: a folder for the tables as Markdown and as a page with charts, None for none.
    """

    tables: str | None
    run: Path | None
    output: Path | None


def show(asked: PosggymWishes, as_json: bool) -> None:
    """Prints the tables.

    Raises:
        UsageError: there is no such table, or no matrix in the folder.
        StoreError: games of a matrix cannot be read.
    """
    chosen = _chosen(asked.tables)
    played = [] if asked.run is None else _matrices(asked.run)
    found = sheets(played, chosen)
    if asked.output is not None:
        asked.output.mkdir(parents=True, exist_ok=True)
        write_whole(asked.output / FILE, _markdown(found))
        write_whole(asked.output / PAGE, drawn.page(played, found))
        console.notices.print(f"tables: {asked.output / FILE}   page: {asked.output / PAGE}")
    if as_json:
        tables = [
            {
                "title": sheet.title,
                "rows": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
                "note": sheet.note,
            }
            for sheet in found
        ]
        console.print_json({"paper": TITLE, "raw": RAW, "tables": tables})
        return
    console.out.print(f"{TITLE}; numbers of figures from the {RAW}")
    for sheet in found:
        console.out.print(sheet)


def _matrices(folder: Path) -> list[Matrix]:
    """Returns the matrices of a folder, or of the folders in it."""
    places = [folder, *sorted(folder.iterdir())] if folder.is_dir() else []
    found = [matrix.read(place) for place in places if matrix.is_matrix(place)]
    if not found:
        raise UsageError(
            f"{folder} holds no matrix: give a folder that `cwm posg matrix` kept, or one that holds such."
        )
    return found


def _chosen(tables: str | None) -> list[str]:
    if tables is None:
        return []
    chosen = [name.strip() for name in tables.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in SHEETS]
    if unknown or not chosen:
        raise UsageError(f"--tables names {unknown[0] if unknown else ''!r}: of this paper, {', '.join(SHEETS)}.")
    return chosen


def _markdown(found: Sequence[Sheet]) -> str:
    head = f"# {TITLE}\n\nNumbers of figures from the {RAW}.\n"
    return head + "".join(f"\n## {sheet.title}\n\n{sheet.markdown()}\n{sheet.note}\n" for sheet in found)
