"""`cwm paper --paper hanabi`: the tables of the paper on language models in Hanabi, ours beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.figures.sheet import Sheet
from arena.papers.hanabi.published.cells import TABLES, TITLE
from arena.papers.hanabi.tables import beside, own_games
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.usage import UsageError
from cwm.storage.files import write_whole

NAME = "hanabi"
"""What `--paper` calls it."""
FILE = "hanabi.md"


@dataclass(frozen=True)
class HanabiWishes:
    """What was asked for.

    Attributes:
        tables: names with commas, None for all.
        run: a folder of stored games, or of several such folders; None for none.
        output: a folder for the tables as Markdown, None for none.
        decks: of the bots.
        workers: processes.
    """

    tables: str | None
    run: Path | None
    output: Path | None
    decks: Sequence[str]
    workers: int


def show(asked: HanabiWishes, as_json: bool) -> None:
    """Prints the tables: the paper's cells, games that ship or that `--run` keeps, and bots, which play at once.

    Raises:
        UsageError: there is no such table, or nothing was played in the folder.
        StoreError: the folder holds no games.
        GameError: there is no such deck.
    """
    chosen = _chosen(asked.tables)
    games = own_games.recorded()
    if asked.run is not None:
        games += own_games.stored(asked.run)
    if not chosen or beside.BOTS in chosen:
        plans = own_games.bot_plans(asked.decks)
        with counted_bar("games of bots") as told:
            games += own_games.bots(plans, asked.workers, told)
    found = beside.sheets(games, chosen)
    if asked.output is not None:
        asked.output.mkdir(parents=True, exist_ok=True)
        write_whole(asked.output / FILE, _markdown(found, asked.decks))
        console.notices.print(f"tables: {asked.output / FILE}")
    if as_json:
        console.print_json({"paper": TITLE, "decks": list(asked.decks), "tables": beside.to_json(found)})
        return
    console.out.print(f"{TITLE}; our bots on the decks {' '.join(asked.decks)}")
    for sheet in found:
        console.out.print(sheet)


def _chosen(tables: str | None) -> list[str]:
    if tables is None:
        return []
    names = [table.name for table in TABLES]
    chosen = [name.strip() for name in tables.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen:
        raise UsageError(f"--tables names {unknown[0] if unknown else ''!r}: of this paper, {', '.join(names)}.")
    return chosen


def _markdown(found: Sequence[Sheet], decks: Sequence[str]) -> str:
    parts = [f"# {TITLE}\n\nOur bots on the decks {' '.join(decks)}.\n"]
    parts += [f"\n## {sheet.title}\n\n{sheet.markdown()}\n{sheet.note}\n" for sheet in found]
    return "".join(parts)
