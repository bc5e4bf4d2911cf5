"""What is shown of a choice among several models: JSON, a table, CSV, and one page; all from the stored choice."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from arena.figures import formatting, templates
from arena.figures.dots import Dot, DotPlot
from arena.figures.intervals import Estimate, t_quantile
from arena.figures.sheet import Sheet
from arena.report import bounded, selection
from arena.report.arena_view import payoffs
from arena.report.page import ranked
from cwm.record.record import RunRecord
from cwm.storage.files import write_whole
from cwm.storage.journal import RunCorruptError

FILE: Final = "selection.json"
TERMS: Final = {
    "host": "a model that took the true game's place in the matches",
    "training accuracy": "share of the tests that it was made with which it passes",
    "seed": "of its synthesis",
    "seats": "places at the tables of all matches, over which its payoff is the mean",
    "matches lost through it": "its illegal actions, crashes, time-outs and the like; each loses a match for both",
}
"""What the columns of the page mean."""
COLUMNS: Final = (
    "model",
    "seed",
    "calls",
    "training_accuracy",
    "host",
    "mean_payoff",
    "standard_error",
    "seats",
    "failures",
    "verdict",
    "sha256",
)


def write(record: RunRecord, data: Mapping[str, Any]) -> None:
    """Stores a choice in its run's folder: as JSON, as a table, and as a page.

    Raises:
        OSError: a file cannot be written.
    """
    write_whole(record.folder / FILE, json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n")
    found = rows(data)
    write_whole(record.table_path("selection.json"), json.dumps(found, indent=1, allow_nan=False) + "\n")
    write_whole(
        record.table_path("selection.csv"), Sheet("", COLUMNS, rows=[tuple(row.values()) for row in found]).csv()
    )
    write_whole(record.report_path, selection.render(data, found))


def read(folder: Path) -> dict[str, Any]:
    """Returns the stored choice of a run, {} if it did not get so far.

    Raises:
        RunCorruptError: the file is damaged.
    """
    path = folder / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise RunCorruptError(
            f"{path} is damaged ({error}); run the same command again, which makes it anew."
        ) from error
    if not isinstance(found, dict) or "candidates" not in found:
        raise RunCorruptError(f"{path} holds no choice; run the same command again, which makes it anew.")
    return found


def rows(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns one row a model, with the columns `COLUMNS`."""
    rejection = data["rejection"] or {"standings": [], "hosts": []}
    standings = {standing["name"]: standing for standing in rejection["standings"]}
    made = []
    for item in data["candidates"]:
        standing = standings.get(item["name"], {})
        made.append(
            {
                "model": item["name"],
                "seed": item["seed"],
                "calls": item["calls"],
                "training_accuracy": item["training_accuracy"],
                "host": item["name"] in rejection["hosts"],
                "mean_payoff": standing.get("payoff"),
                "standard_error": standing.get("standard_error"),
                "seats": standing.get("seats"),
                "failures": ", ".join(f"{count} {cause}" for cause, count in standing.get("failures", {}).items()),
                "verdict": _verdict(data, item),
                "sha256": item["model"],
            }
        )
    return made


def payoff(row: Mapping[str, Any]) -> str:
    """Returns the mean payoff of a row with its standard error, a dash where no match was played."""
    return formatting.pair(None if row["mean_payoff"] is None else (row["mean_payoff"], row["standard_error"]), 3)


def table(data: Mapping[str, Any]) -> Sheet:
    """Returns what people read in the terminal."""
    texts = ["model", "verdict", "host", "failures"]
    made = Sheet(f"Models of {data['game']}", texts, ["training accuracy", "calls", "seed", "mean payoff", "seats"])
    for row in rows(data):
        made.add(
            row["model"],
            row["verdict"],
            "yes" if row["host"] else "",
            row["failures"],
            formatting.accuracy(row["training_accuracy"]),
            *(_shown(row[name]) for name in ("calls", "seed")),
            payoff(row),
            _shown(row["seats"]),
        )
    return made


def _verdict(data: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    if item["model"] is None:
        return "no model"
    if item["name"] == data["chosen"]:
        return "chosen"
    if item["name"] in data["kept"]:
        return "kept"
    return "rejected" if data["method"] == "rejection" else "not chosen"


def _shown(value: int | None) -> str:
    return formatting.NONE if value is None else formatting.whole(value)


def render(data: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page; it needs no network and no script.

    Args:
        data: the choice, as `arena.pipeline.selection.Selection.to_json` gives it.
        rows: one a model, as `arena.report.selection.rows` gives them.
    """
    return templates.page(
        "arena.report", "selection.html.j2", data=data, rows=rows, plot=_plot(data), terms=TERMS, term=_term
    )


def _term(name: str) -> Markup:
    return Markup('<abbr title="{}">{}</abbr>').format(TERMS[name], name)


def _plot(data: Mapping[str, Any]) -> DotPlot | None:
    """Returns what the planner on each model was paid, the best first, and where rejection begins.

    The scale is what the game can pay, or what was paid where nobody knows the game any more.
    """
    found = data["rejection"]
    if not found or not found["standings"]:
        return None
    known = payoffs(data["game"])
    deals = found["config"]["repetitions"]
    dots = []
    for item in found["standings"]:
        mean, error = item["payoff"], item["standard_error"]
        half = t_quantile(deals - 1) * error if error is not None and deals > 1 else None
        lower, upper = (None, None) if half is None else (mean - half, mean + half)
        shown = bounded.cut(Estimate(mean, error, lower, upper, deals), known or (-math.inf, math.inf))
        dots.append(Dot.of(item["name"], shown, "chosen" if item["name"] == data["chosen"] else ""))
    best = max(dot.mean for dot in dots)
    limit = Dot("rejected below this", best - found["tolerated"], kind="published")
    low, high = known or found["observed"]
    return DotPlot.of("Mean payoff of the planner on each model", [*ranked(dots), limit], low, high, digits=3)
