"""`cwm turns`: decisions of finished games as rows of data, checked, and read from the published layout."""

from pathlib import Path
from typing import Annotated

import typer

from arena.decisions import walk
from arena.exports.turns import check as checking
from arena.exports.turns import export as exporting
from arena.exports.turns import hanabi_data
from arena.exports.turns.export import FORMS, RowWishes
from arena.exports.turns.rows import RATERS, SELF
from arena.matches.replay import RecordError
from arena.terminal import console
from arena.terminal.options import AsJson
from arena.usage import UsageError

app = typer.Typer(no_args_is_help=True, help="Make, check and read data sets of decisions.")
SHOWN = 20
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the data set; one that is there is replaced.")]
TestDecks = Annotated[
    str | None,
    typer.Option("--test-decks", help="Decks whose games are the test split, e.g. hle:2,4,6,8 or seed:17."),
]


@app.command("export")
def export(
    run: Annotated[
        Path,
        typer.Argument(help="Folder of `cwm arena --run`, `cwm xp --run` or `cwm play`, or of several of these."),
    ],
    output: Output,
    form: Annotated[str, typer.Option("--as", help=f"{', '.join(FORMS)}.")] = "logs",
    test_decks: TestDecks = None,
    ratings: Annotated[
        str, typer.Option("--ratings", help=f"Whose ratings: {', '.join(RATERS)} (the last two by `cwm rate`).")
    ] = SELF,
    min_points: Annotated[float | None, typer.Option("--min-points", help="Games of so many points alone.")] = None,
    agents: Annotated[str | None, typer.Option("--agents", help="These agents' alone, e.g. NAME,NAME.")] = None,
    scaffold: Annotated[str | None, typer.Option("--scaffold", help="Decisions by this scaffold alone.")] = None,
    top_rated: Annotated[bool, typer.Option("--top-rated", help="Moves alone that no other is rated above.")] = False,
) -> None:
    """Write a row for every decision, as JSON lines and Parquet, split by deck, with a data card."""
    places = walk.played(run)
    names = tuple(_listed(agents))
    walk.check_agents(places, names)
    wishes = RowWishes(form, ratings, _decks(test_decks), names, scaffold, min_points, top_rated)
    _told(exporting.export(places, wishes, output), output)


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="File of rows, .jsonl or .parquet, as `cwm turns export --as logs`.")],
    as_json: AsJson = False,
) -> None:
    """Play every game of a file again: legal moves, truth, states and scores must be as the rows say."""
    found = checking.check(file)
    if as_json:
        problems = [{"row": one.number, "message": one.message} for one in found.problems]
        console.print_json({"rows": found.rows, "games": found.games, "replayed": found.replayed, "problems": problems})
    else:
        console.out.print(f"{found.replayed} of {found.rows} rows in {found.games} games agree with their games")
        for one in found.problems[1:SHOWN]:
            console.out.print(f"row {one.number}: {one.message}")
    if found.problems:
        first = found.problems[0]
        raise RecordError(f"{file}, row {first.number}: {first.message}.")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="File of rows in another layout.")],
    output: Output,
    layout: Annotated[
        str, typer.Option("--from", help=f"{hanabi_data.LAYOUT}: HanabiLogs and HanabiRewards as published.")
    ] = hanabi_data.LAYOUT,
    test_decks: TestDecks = None,
) -> None:
    """Read rows of another layout: those whose games play again as they say; the others are counted by reason."""
    if layout != hanabi_data.LAYOUT:
        raise UsageError(f"There is no layout {layout!r}: give {hanabi_data.LAYOUT}.")
    found = hanabi_data.read(file)
    for reason, count in found.left_out.most_common():
        console.notices.print(f"{count} rows left out: {reason}")
    if found.first is not None:
        console.notices.print(f"first: row {found.first[0]}: {found.first[1]}")
    if not found.rows:
        raise UsageError(f"None of {found.read} rows of {file} plays again: is it of the layout {layout}?")
    _told(exporting.write(found.rows, RowWishes(test_decks=_decks(test_decks)), output), output)


def _told(splits: dict[str, int], output: Path) -> None:
    told = ", ".join(f"{count} rows in {name}" for name, count in splits.items())
    console.notices.print(f"{told}: {output}")


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _decks(text: str | None) -> tuple[str, ...]:
    """Returns names of decks: a kind that is said once goes for those after it, as in hle:2,4."""
    kind, found = "", list[str]()
    for name in _listed(text):
        given, colon, rest = name.rpartition(":")
        kind = f"{given}{colon}" if colon else kind
        found.append(f"{kind}{rest}")
    return tuple(found)
