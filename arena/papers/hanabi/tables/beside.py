"""The paper's tables as sheets, ours in rows below the paper's."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from arena.figures import formatting
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.papers.hanabi.published.cells import POINTS, STRICT, TABLES, PublishedLine, PublishedTable
from arena.papers.hanabi.tables.own_games import GAMES, OwnGame, SeatSetting, estimates

PAPER: Final = "paper"
ELSEWHERE: Final = "published"
OURS: Final = "ours"
NOT_RECORDED: Final = "not recorded"
NOT_PLAYED: Final = "not played"
BOTS: Final = "baselines"
PROMPTS: Final = "prompts"
FURTHER: Final = "Ours that the paper has not"
NOTE: Final = (
    "Ours: mean ± half of its 95 % interval over deals, or [its ends] (games). Points count the fireworks after a "
    "third bomb, too, as the paper does; strict counts nothing then."
)

Of = Callable[[OwnGame], bool]


def sheets(games: Sequence[OwnGame], chosen: Sequence[str] = ()) -> list[Sheet]:
    """Returns the tables with ours below the paper's rows, and one of what the paper has not.

    Args:
        games: ours.
        chosen: names of tables, () for all.
    """
    made = [_sheet(table, games) for table in TABLES if not chosen or table.name in chosen]
    further = [game for game in games if not any(_belongs(table.name, game) for table in TABLES)]
    if further and not chosen:
        sheet = Sheet(FURTHER, ["player", "whose", "scoring"], list(GAMES))
        _add_ours(sheet, further, list(GAMES))
        sheet.note = NOTE
        made.append(sheet)
    return made


def to_json(found: Sequence[Sheet]) -> list[dict[str, Any]]:
    """Returns sheets as JSON: rows by column."""
    return [
        {
            "title": sheet.title,
            "rows": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
            "note": sheet.note,
        }
        for sheet in found
    ]


def _sheet(table: PublishedTable, games: Sequence[OwnGame]) -> Sheet:
    sheet = Sheet(f"{table.title} ({table.source})", ["player", "whose", "scoring"], list(table.columns))
    marks = [f"[{number}] {text}" for number, text in enumerate(table.errata, start=1)]
    mine = [game for game in games if _belongs(table.name, game)]
    sheet.note = " ".join([*marks, *([NOTE] if mine else [])])
    for line in table.rows:
        words = f"{line.label}: {line.remark}" if line.remark else line.label
        whose = ELSEWHERE if table.name == BOTS else PAPER
        sheet.add(words, whose, line.scoring, *map(_printed, line.cells))
        of = _beside(line)
        if of is not None and _is_last(table, line):
            own = [game for game in mine if of(game)]
            if own or line.bot is None:
                _add_ours(sheet, own, table.columns)
    rest = [game for game in mine if not any(of is not None and of(game) for of in map(_beside, table.rows))]
    every_line_has_ours = all(_beside(line) is not None for line in table.rows)
    if rest or not (every_line_has_ours or table.name == BOTS):
        _add_ours(sheet, rest, table.columns)
    return sheet


def _belongs(name: str, game: OwnGame) -> bool:
    """Tells whether a game of ours stands in a table."""
    seat = game.seats[0]
    if not game.alone:
        return name == "cross-play"
    if seat.scaffold is None:
        return name == BOTS
    if seat.mixture:
        return name == "mixture"
    if seat.k > 1:
        return name == "best-of-k"
    if name == PROMPTS:
        table = next(table for table in TABLES if table.name == name)
        return game.column in table.columns and seat.scaffold in {line.scaffold for line in table.rows}
    return name == seat.scaffold


def _beside(line: PublishedLine) -> Of | None:
    """Returns what tells the games of ours that stand right below a row, None if none does."""
    if line.bot is not None:
        return lambda game: game.alone and game.seats[0].bot == line.bot
    if line.scaffold is not None:
        return lambda game: game.seats[0].scaffold == line.scaffold
    return None


def _is_last(table: PublishedTable, line: PublishedLine) -> bool:
    """Tells whether no later row has the same games of ours beside it."""
    same = [other for other in table.rows if (other.bot, other.scaffold) == (line.bot, line.scaffold)]
    return same[-1] is line


def _add_ours(sheet: Sheet, games: Sequence[OwnGame], columns: Sequence[str]) -> None:
    groups: dict[tuple[str, ...], list[OwnGame]] = {}
    for game in games:
        groups.setdefault(_who(game.seats), []).append(game)
    if not groups:
        sheet.add("–", OURS, f"{POINTS}, {STRICT}", *[NOT_RECORDED] * len(columns))
    for who, own in sorted(groups.items()):
        by_column = [estimates(game for game in own if game.column == column) for column in columns]
        words = " + ".join(who)
        asked = any(seat.scaffold is not None for seat in own[0].seats)
        none = NOT_RECORDED if asked else NOT_PLAYED
        sheet.add(words, OURS, POINTS, *(_cell(points, n - lost, lost, none) for points, _, n, lost in by_column))
        sheet.add(words, OURS, STRICT, *(_cell(strict, n, 0, none) for _, strict, n, _ in by_column))


def _who(seats: Iterable[SeatSetting]) -> tuple[str, ...]:
    """Returns the names at a table, sorted; one name if all are alike."""
    names = sorted(seat.words for seat in seats)
    return (names[0],) if len(set(names)) == 1 else tuple(names)


def _cell(value: Estimate | None, games: int, forfeited: int, none: str) -> str:
    left_out = f", {forfeited} forfeited" if forfeited else ""
    if value is None:
        return f"{formatting.NONE} (0{left_out})" if forfeited else none
    return f"{formatting.interval(value)} ({games}{left_out})"


def _printed(cell: float | None) -> str:
    """Returns a number with as many decimals as were printed: the bots' have two."""
    return formatting.NONE if cell is None else f"{cell:.1f}" if round(cell, 1) == cell else f"{cell:.2f}"
