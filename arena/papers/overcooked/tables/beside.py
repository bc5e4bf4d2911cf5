"""The paper's tables of returns as sheets, trainings of ours in rows below the paper's."""

from collections.abc import Sequence
from typing import Final

from arena.figures.sheet import Sheet
from arena.papers.overcooked.published.cells import EPISODES, SEEDS, TABLES, PublishedReturns
from arena.papers.overcooked.tables.returns import FIGURES, TrainedCross

NOT_TRAINED: Final = "not trained"
COLUMNS: Final = ("seeds", "SP", "XP", *FIGURES)
MEANS: Final = (
    "Returns: mean ± standard deviation, of self-play over policies, of cross-play over ordered pairs of different "
    f"policies, {EPISODES} episodes each with drawn actions. Deliveries, wrong ones and button presses: self-play | "
    "cross-play, a game."
)
FURTHER: Final = "Ours that the paper has not"


def sheets(found: Sequence[TrainedCross], chosen: Sequence[str] = ()) -> list[Sheet]:
    """Returns the tables with ours below the paper's rows, and one of what the paper has not.

    Args:
        found: ours.
        chosen: names of tables, () for all.
    """
    made = [_sheet(table, found) for table in TABLES if not chosen or table.name in chosen]
    printed = {(row.layout, row.method) for table in TABLES for row in table.rows}
    further = [cross for cross in found if (_layout(cross), cross.method) not in printed]
    if further and not chosen:
        sheet = Sheet(FURTHER, ["layout", "method", "whose"], list(COLUMNS), note=MEANS)
        for cross in further:
            _add(sheet, cross)
        made.append(sheet)
    return made


def _sheet(table: PublishedReturns, found: Sequence[TrainedCross]) -> Sheet:
    sheet = Sheet(f"{table.title} ({table.source})", ["layout", "method", "whose"], list(COLUMNS))
    for row in table.rows:
        sheet.add(row.layout, row.method, "paper", str(SEEDS), _spread(row.sp), _spread(row.xp), "", "", "")
        own = [cross for cross in found if (_layout(cross), cross.method) == (row.layout, row.method)]
        for cross in own:
            _add(sheet, cross)
        if not own:
            sheet.add(row.layout, row.method, "ours", "", NOT_TRAINED, NOT_TRAINED, "", "", "")
    sheet.note = " ".join(part for part in (table.note, MEANS) if part)
    return sheet


def _layout(cross: TrainedCross) -> str:
    """Returns a layout as the tables name it; with options, it is none of theirs."""
    return cross.game.removeprefix("overcooked-v2-")


def _add(sheet: Sheet, cross: TrainedCross) -> None:
    whose = f"ours, {cross.scale}, {cross.steps / 1e6:g}M steps"
    figures = [_pair(cross.figures[name]) for name in FIGURES]
    xp = "–" if cross.xp is None else _spread(cross.xp)
    sheet.add(_layout(cross), cross.method, whose, str(len(cross.names)), _spread(cross.sp), xp, *figures)


def _spread(told: tuple[float, float]) -> str:
    return f"{told[0]:.0f} ± {told[1]:.0f}"


def _pair(told: tuple[float, float | None]) -> str:
    return f"{told[0]:.1f} | {'–' if told[1] is None else format(told[1], '.1f')}"
