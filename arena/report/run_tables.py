"""A run's tables as files: each as JSON for programs and as CSV for spreadsheets, under `tables/` of its folder."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias

from arena.figures.intervals import Estimate
from arena.figures.metrics import Cooperation
from arena.figures.sheet import Sheet
from arena.matches.ratings import Side
from arena.report.data import ArenaView, CandidateView, ReportData
from cwm.record.record import RunRecord
from cwm.storage.files import write_whole
from cwm.storage.keys import program_hash

Row: TypeAlias = dict[str, Any]


def tables(report: ReportData) -> dict[str, list[Row]]:
    """Returns the tables by name: rows of plain values, all rows of a table with the same columns."""
    return {
        "accuracy": [
            asdict(row) | {"tests": row.total, "accuracy": row.rate, "accuracy_of_answers": row.rate_of_answers}
            for row in report.accuracy
        ],
        "usage": [asdict(row) for row in report.usage],
        "tree": _even(_candidate(candidate) for candidate in report.candidates),
        "standings": standings(report.arenas),
        "similarity": [asdict(row) for row in report.similarity],
    }


def standings(arenas: Iterable[ArenaView]) -> list[Row]:
    """Returns a row for each agent of each lineup of each arena, forfeits counted, all with the same columns."""
    return _even(row for arena in arenas for row in _standings(arena))


def write(record: RunRecord, report: ReportData) -> None:
    """Writes every table, an empty one too, as `NAME.json` and `NAME.csv`; old ones are replaced.

    Raises:
        RunStorageError: the folder cannot be made.
        OSError: a file cannot be written.
    """
    for name, rows in tables(report).items():
        write_whole(record.table_path(f"{name}.json"), json.dumps(rows, indent=1, allow_nan=False) + "\n")
        write_whole(record.table_path(f"{name}.csv"), Sheet.of_records(rows).csv())


def _candidate(candidate: CandidateView) -> Row:
    return {
        "id": candidate.id,
        "parent": candidate.parent,
        "call": candidate.call,
        "status": candidate.status,
        "heuristic": candidate.heuristic,
        "chosen": candidate.chosen,
        "sha256": program_hash(candidate.source),
        "failed_tests": candidate.failing_total,
        **{f"pass_rate_{kind}": rate for kind, rate in candidate.pass_rates.items()},
    }


def _standings(arena: ArenaView) -> Iterable[Row]:
    for result in arena.table.lineups:
        for side in result.sides:
            yield {
                "arena": arena.title,
                "game": arena.table.game,
                "lineup": " + ".join(result.lineup),
                "agent": side.agent,
                "games": side.games,
                "deals": result.deals,
                **_estimates(side, ("win", "draw", "loss", "payoff")),
                **_estimates(result.cooperation, tuple(Cooperation.__dataclass_fields__)),
                **{name: found.mean for name, found in result.further.items()},
            }


def _estimates(figures: Side | Cooperation | None, names: Iterable[str]) -> Row:
    row: Row = {}
    for name in names:
        found: Estimate | None = None if figures is None else getattr(figures, name)
        row[name] = None if found is None else found.mean
        row[f"{name}_low"] = None if found is None else found.low
        row[f"{name}_high"] = None if found is None else found.high
    return row


def _even(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Returns the rows with all columns of any of them, None where one had none."""
    listed = list(rows)
    columns = list(dict.fromkeys(name for row in listed for name in row))
    return [{name: row.get(name) for name in columns} for row in listed]
