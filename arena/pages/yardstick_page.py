"""A language model on the yardstick: printed tables, and one page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from arena.figures import formatting, templates
from arena.figures.dots import Dot, DotPlot
from arena.figures.formatting import NONE
from arena.figures.intervals import Estimate
from arena.figures.sheet import Sheet
from arena.yardstick.line import GameResult, Totals, YardstickLine, accuracies, mean, share
from arena.yardstick.standings import Placed
from cwm.storage.files import write_whole

NUMBERS: Final = ("exact", "transitions", "inference", "calls", "tokens in", "tokens out", "cost", "seconds")
TERMS: Final = {
    "exact": "every training test and every held-out transition and inference is right; a count of several syntheses",
    "transitions": "share of the held-out transitions that the program gets right",
    "inference": "the same of what it samples that players may believe, where something is hidden",
    "calls": "to the language model, refinements included",
    "seconds": "spent waiting for its answers; none on replay",
}
GROUPS: Final = {"paper": "the ten games of the CWM paper, and Yōkai", "unprepared": "games nobody prepared"}


def write(path: Path, found: YardstickLine, placed: Sequence[Placed]) -> None:
    """Writes the page; an old one is replaced whole or not at all.

    Raises:
        OSError: the place cannot be written.
    """
    write_whole(path, render(found, placed))


def render(found: YardstickLine, placed: Sequence[Placed]) -> str:
    """Returns the page; it needs no network and no script, and every value is escaped."""
    totals = Totals.of(found.games)
    shown = [one for one in placed if one.comparable and one.totals.exact is not None]
    dots = [Dot.of(name_of(one.line), one.totals.exact, one.apart) for one in shown if one.totals.exact is not None]
    return templates.page(
        "arena.pages",
        "yardstick.html.j2",
        found=found,
        totals=totals,
        accuracy=_accuracy(totals.transition),
        sentence=_sentence(found, totals),
        name=name_of(found),
        plot=DotPlot.of("Share of the syntheses that are exact", dots, 0.0, 1.0) if dots else None,
        tables=[games_table(found, group) for group in GROUPS if any(game.group == group for game in found.games)],
        reasons=reasons_table(found),
        standings=standing_tables(placed),
        terms=TERMS,
    )


def name_of(line: YardstickLine) -> str:
    """Returns what a line is called in tables: its model, and the label of its settings."""
    return f"{line.model} ({line.row})" if line.row else line.model


def games_table(found: YardstickLine, group: str | None = None) -> Sheet:
    """Returns what the language model came to, game by game, those of one group or all."""
    title = f"{name_of(found)} on version {found.yardstick} of the yardstick"
    if group is not None:
        title = f"{GROUPS[group]}; means over syntheses, with 95 % intervals where there are several"
    table = Sheet(title, ["game"], NUMBERS)
    for game in found.games:
        if group in (None, game.group):
            table.add(game.game, _exact(game), *_figures(game))
    return table


def reasons_table(found: YardstickLine) -> Sheet | None:
    """Returns why syntheses are not exact, None if all are."""
    table = Sheet("Not exact, and why", ["game", "synthesis", "what happened", "reason"])
    for game in found.games:
        seeds: dict[tuple[str, str], list[str]] = {}
        for attempt in game.syntheses:
            if attempt.state != "exact":
                seeds.setdefault((attempt.state, attempt.reason), []).append(f"s{attempt.seed}")
        for (state, reason), of in seeds.items():
            table.add(game.game, ", ".join(of), state, reason)
    return table if table.rows else None


def standing_tables(placed: Sequence[Placed]) -> list[Sheet]:
    """Returns the standings: lines of this version, then, apart, those that are compared with nothing."""
    columns = ("games", "exact", "transitions", "inference", "calls", "cost")
    made = []
    for comparable in (True, False):
        lines = [one for one in placed if one.comparable is comparable]
        if not lines:
            continue
        title = "Standings (share exact and means, with 95 % intervals over games)"
        table = Sheet(
            title if comparable else "Not compared: other games", ["place", "language model", "date"], columns
        )
        table.note = "Intervals that overlap tell no order." if comparable and len(lines) > 1 else ""
        for one in lines:
            totals = one.totals
            name = name_of(one.line) + (f": {one.apart}" if one.apart else "")
            table.add(
                NONE if one.place is None else str(one.place),
                name,
                one.line.date,
                formatting.whole(totals.games),
                formatting.estimate(totals.exact),
                *map(_accuracy, (totals.transition, totals.inference)),
                formatting.estimate(totals.calls, 1),
                _money(totals.sums["cost"]),
            )
        made.append(table)
    return made


def prompts_table(rows: Sequence[Mapping[str, Any]]) -> Sheet:
    """Returns how long the first prompts are."""
    table = Sheet("First prompts", ["game"], ["seed", "tokens in, estimated", "first call costs at most"])
    for row in rows:
        cost = _money(row["cost_at_most"])
        table.add(row["game"], row["seed"], formatting.whole(row["input_tokens"]), cost)
    return table


def _exact(game: GameResult) -> str:
    known = game.known
    if not known:
        return game.syntheses[0].state
    right = sum(attempt.state == "exact" for attempt in known)
    if len(game.syntheses) == 1:
        return "yes" if right else "no"
    found = formatting.estimate(share([[float(attempt.state == "exact")] for attempt in known]))
    return f"{right} of {len(known)}, {found}"


def _figures(game: GameResult) -> list[str]:
    known = game.known
    if not known:
        return [NONE] * (len(NUMBERS) - 1)
    names = ("transition", "inference") if game.hidden else ("transition",)
    rates = [_rate(accuracies(known, name)) for name in names] + [NONE] * (2 - len(names))
    calls = mean([[float(attempt.calls)] for attempt in known], least=0.0)
    mark = "~" if any(attempt.estimated for attempt in known) else ""
    tokens = [
        f"{mark}{formatting.whole(sum(getattr(attempt, name) for attempt in known))}"
        for name in ("input_tokens", "output_tokens")
    ]
    costs = [attempt.cost for attempt in known]
    cost = None if None in costs else sum(value for value in costs if value is not None)
    return [
        *rates,
        formatting.whole(known[0].calls) if len(known) == 1 else formatting.estimate(calls, 1),
        *tokens,
        _money(cost),
        _seconds(sum(attempt.seconds for attempt in known)),
    ]


def _rate(values: Sequence[float]) -> str:
    return formatting.accuracy(sum(values) / len(values) if values else None)


def _accuracy(value: Estimate | None) -> str:
    """Returns a mean accuracy, which never rounds up to 1, with its interval."""
    if value is None or value.low is None or value.high is None:
        return formatting.accuracy(None if value is None else value.mean)
    return f"{formatting.accuracy(value.mean)} [{value.low:.4f}, {formatting.accuracy(value.high)}]"


def _money(value: float | None) -> str:
    return NONE if value is None else f"{value:,.4g}"


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value else NONE


def _sentence(found: YardstickLine, totals: Totals) -> str:
    name = name_of(found)
    if totals.exact is None:
        return f"Of {name} nothing is known yet: no synthesis came to an end."
    right = sum(attempt.state == "exact" for game in found.games for attempt in game.syntheses)
    what = "syntheses" if totals.syntheses > totals.games else "games"
    return f"{name} wrote exact models in {right} of {totals.syntheses} {what}, from rule books and a few played games."
