"""The report of a run as one HTML page: no network, and no script but the player of its games."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from arena.exports import watching
from arena.exports.watching import Watched
from arena.figures import colouring, differences, dots, metrics, templates
from arena.figures.differences import ChangedLine
from arena.pages import headline
from arena.pages.tree_layout import layout
from arena.papers.yokai.published import figures
from arena.papers.yokai.published.results import SHOWN_SOURCE
from arena.report import bounded
from arena.report.data import Accuracy, CandidateView, ReportData
from arena.report.page import cooperative, heat
from cwm.storage.files import write_whole


@dataclass(frozen=True)
class SplitBar:
    """How much was right of one split: a bar of the page."""

    split: str
    right: int
    total: int


@dataclass(frozen=True)
class CurveMark:
    """A candidate in the curve of accuracy over calls; places in percent of the width and the height."""

    candidate: CandidateView
    x: float
    y: float


@dataclass(frozen=True)
class CallsCurve:
    """Accuracy of the best candidate so far over calls.

    Attributes:
        points: every candidate that came from a call.
        line: the best so far, as points of an SVG of 100 by 100.
        ticks: (call, percent from the left).
        levels: (accuracy, percent from the top).
    """

    points: tuple[CurveMark, ...]
    line: str
    ticks: tuple[tuple[int, float], ...]
    levels: tuple[tuple[float, float], ...]


def render(data: ReportData, watched: Watched | None = None) -> str:
    """Returns the page. Every value is escaped: a model's answer may hold markup, and must stay text.

    Args:
        data: what it shows.
        watched: games to watch; None for none.
    """
    data = replace(data, arenas=tuple(map(bounded.arena, data.arenas)))
    return templates.page(
        "arena.pages",
        "report.html.j2",
        data=data,
        head=headline.of(data),
        bars=accuracy_bars(data.accuracy),
        imperfect=[row for row in data.accuracy if row.total and row.rate != 1],
        curve=curve_of(data.candidates),
        tree=layout(data.candidates),
        changes=lambda candidate: _changes(data.candidates, candidate),
        coloured=colouring.lines,
        marked=lambda test: differences.marked(test.expected, test.got),
        paper=figures.rows(data.game),
        paper_source=SHOWN_SOURCE,
        heat=heat,
        cooperative=cooperative,
        terms=metrics.TERMS,
        told=[row for row in data.summary if not _is_hash(row)],
        hashes=[row for row in data.summary if _is_hash(row)]
        + ([("programs", str(len(data.programs)))] if data.programs else []),
        watched=watched,
        player=player(watched),
        policy=watching.script_source() if watched else "",
    )


def player(watched: Watched | None) -> dict[str, Markup]:
    """Returns the style and the body of the player of games, empty without games."""
    if watched is None:
        return {"style": Markup(""), "body": Markup("")}
    parts = {
        part: templates.page(
            "arena.exports", "watching_part.html.j2", part=part, watched=watched, script=watching.SCRIPT
        )
        for part in ("style", "body")
    }
    return {part: Markup(text) for part, text in parts.items()}


def write(data: ReportData, path: Path, watched: Watched | None = None) -> None:
    """Writes the page; an old one is replaced whole or not at all.

    Raises:
        OSError: the place cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, render(data, watched))


def accuracy_bars(rows: Sequence[Accuracy]) -> list[SplitBar]:
    """Returns one bar a split: all its tests, the fields of transitions not counted again."""
    splits = dict.fromkeys(row.split for row in rows)
    bars = []
    for split in splits:
        tests = [row for row in rows if row.split == split and not row.is_field]
        bars.append(SplitBar(split, sum(row.passed for row in tests), sum(row.total for row in tests)))
    return [bar for bar in bars if bar.total]


def curve_of(candidates: Sequence[CandidateView]) -> CallsCurve | None:
    """Returns how accuracy grew with the calls, None where no candidate came from a known call."""
    known = [(candidate.call, candidate) for candidate in candidates if candidate.call is not None]
    if not known:
        return None
    last = max(call for call, _ in known)
    lowest = min(min(candidate.heuristic for _, candidate in known), 0.9)
    levels = dots.ticks(lowest, 1.0, 4)
    low, high = levels[0], levels[-1]

    def x(call: float) -> float:
        return 100 * call / (last + 0.5)

    def y(value: float) -> float:
        return 100 * (high - value) / (high - low)

    points = tuple(CurveMark(candidate, x(call), y(candidate.heuristic)) for call, candidate in known)
    best, line = None, []
    for call, candidate in sorted(known, key=lambda item: (item[0], item[1].heuristic)):
        if best is not None:
            line.append(f"{x(call):.2f},{y(best):.2f}")
        best = candidate.heuristic if best is None else max(best, candidate.heuristic)
        line.append(f"{x(call):.2f},{y(best):.2f}")
    line.append(f"100,{y(best or 0.0):.2f}")
    calls = [int(tick) for tick in dots.ticks(0, last, 8) if tick == int(tick) and tick <= last]
    return CallsCurve(
        points, " ".join(line), tuple((call, x(call)) for call in calls), tuple((value, y(value)) for value in levels)
    )


def _changes(candidates: Sequence[CandidateView], candidate: CandidateView) -> list[ChangedLine]:
    parent = next((other for other in candidates if other.id == candidate.parent), None)
    return [] if parent is None or not candidate.source else differences.changed_lines(parent.source, candidate.source)


def _is_hash(row: tuple[str, str]) -> bool:
    """Tells whether a row of the summary is for the end of the page: nobody reads hashes first."""
    return "SHA-256" in row[0] or "shared with" in row[0]
