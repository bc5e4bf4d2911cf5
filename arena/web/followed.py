"""Runs and tournaments while they grow: everything is read from their folders, nothing is changed or asked again."""

import difflib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from arena.figures import intervals
from arena.matches import store
from arena.report.run_report import report_of, tree_of
from arena.runs.folder import read_result
from cwm.record.record import RunRecord
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import AnswerReceived, CandidateTested, Finished, PromptSent

SHOWN_FAILURES: Final = 40
LATEST_EVENTS: Final = 60
LONGEST: Final = 400_000
"""Characters of a text that a page is sent."""


def run(folder: Path) -> dict[str, Any]:
    """Returns how far a run is.

    Raises:
        RunRecordError: the folder holds no run, or a file is damaged.
    """
    with RunRecord.read(folder) as record:
        result = read_result(folder)
        told = [(kind, payload) for _, _, kind, payload in record.events(STREAM)]
        synthesis = result.get("synthesis", {})
        candidates = [
            {
                "id": entry["id"],
                "parent": entry["parent"],
                "call": entry["step"] + 1,
                "status": entry["status"],
                "heuristic": entry["heuristic"],
                "pass_rates": entry["pass_rates"],
                "chosen": entry["hash"] == synthesis.get("best"),
            }
            for entry in tree_of(record, result)
        ]
        return {
            "kind": record.info.kind,
            "game": str(record.info.config.get("game", "")),
            "message": str(synthesis.get("message", "")) or _last_message(told),
            "candidates": candidates,
            "curve": _curve(told),
            "calls": _calls(record),
            "attempts": _attempts(told),
            "events": [[kind, _short(payload)] for kind, payload in told[-LATEST_EVENTS:]][::-1],
        }


def call(folder: Path, number: int) -> dict[str, Any] | None:
    """Returns what was asked and answered, None if there is no such call.

    Args:
        folder: of the run.
        number: of the call, from 1.

    Raises:
        RunRecordError: as for `run`.
    """
    with RunRecord.read(folder) as record:
        for index, stored in enumerate(record.calls.calls(), start=1):
            if index == number:
                answer = stored.completion
                return {
                    "number": number,
                    "messages": [[message.role, message.text[:LONGEST]] for message in stored.request.messages],
                    "answer": None if answer is None else answer.text[:LONGEST],
                    "status": stored.status,
                    "message": stored.message,
                }
    return None


def candidate(folder: Path, number: int) -> dict[str, Any] | None:
    """Returns a program, how it differs from the one that it refines, and the tests that it failed.

    Args:
        folder: of the run.
        number: of the candidate.

    Raises:
        RunRecordError: as for `run`.
    """
    with RunRecord.read(folder) as record:
        result = read_result(folder)
        entries = {entry["id"]: entry for entry in tree_of(record, result)}
        if number not in entries:
            return None
        entry = entries[number]
        source = record.program_source(entry["hash"])
        parent = entries.get(entry["parent"])
        report = report_of(record, entry["hash"], result.get("synthesis", {}).get("suite"))
        failing = [] if report is None else [item for item in report.results if item.status != "pass"]
        return {
            "id": number,
            "parent": entry["parent"],
            "source": source[:LONGEST],
            "difference": [] if parent is None else _difference(record.program_source(parent["hash"]), source),
            "problems": list(entry.get("problems", ()) if report is None else report.problems),
            "failing_total": len(failing),
            "failing": [
                {
                    "id": item.id,
                    "kind": item.kind,
                    "field": item.field,
                    "expected": item.expected,
                    "got": item.got,
                    "message": item.message,
                }
                for item in failing[:SHOWN_FAILURES]
            ],
        }


def tournament(folder: Path) -> dict[str, Any]:
    """Returns the standings of the games that are stored so far.

    Raises:
        StoreError: there are none, or the file is damaged.
    """
    stored = store.read(folder)
    # Games on one deal are no independent ones: intervals are those of deals.
    returns: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    first: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    forfeits: dict[str, int] = defaultdict(int)
    for record in stored.games.values():
        for seat, name in enumerate(record.seats):
            returns[name][record.deal_seed].append(record.returns[seat])
            first[name][record.deal_seed].append(float(record.returns[seat] == max(record.returns)))
            forfeits[name] += record.forfeit is not None and record.forfeit.seat == seat
    rows = [
        {
            "agent": name,
            "seats": sum(len(values) for values in own.values()),
            "mean": _told(intervals.clustered_mean(list(own.values()))),
            "best": _told(intervals.clustered_rate(list(first[name].values()))),
            "forfeits": forfeits[name],
        }
        for name, own in returns.items()
    ]
    deals, agents = stored.config.get("deals"), stored.config.get("agents", ())
    return {
        "game": str(stored.config.get("game", "")),
        "games": len(stored.games),
        "deals": deals if isinstance(deals, int) else None,
        "agents": len(agents),
        "faults": sum(len(messages) for messages in stored.faults.values()),
        "rows": sorted(rows, key=lambda row: -row["mean"][0]),
    }


def _told(estimate: intervals.Estimate | None) -> list[float | None]:
    """Returns the estimate and the ends of its 95 % interval, None where that cannot be had."""
    return [0.0, None, None] if estimate is None else [estimate.mean, estimate.low, estimate.high]


def _curve(told: list[tuple[str, dict[str, Any]]]) -> list[list[float]]:
    """Returns (calls so far, best pass rate so far) after each candidate."""
    calls, best, points = 0, 0.0, []
    for kind, payload in told:
        if kind == AnswerReceived.kind:
            calls = max(calls, int(payload["call"]))
        elif kind == CandidateTested.kind:
            best = max(best, float(payload["heuristic"]))
            points.append([float(calls), best])
    return points


def _last_message(told: list[tuple[str, dict[str, Any]]]) -> str:
    """Returns how the synthesis ended where its result is not written down yet, "" while it goes on."""
    return next((str(payload["message"]) for kind, payload in reversed(told) if kind == Finished.kind), "")


def _attempts(told: list[tuple[str, dict[str, Any]]]) -> dict[str, int]:
    """Returns by call how often it was asked."""
    asked = [payload for kind, payload in told if kind == PromptSent.kind]
    return {str(payload["call"]): int(payload["attempt"]) for payload in asked}


def _calls(record: RunRecord) -> list[dict[str, Any]]:
    rows = []
    for number, stored in enumerate(record.calls.calls(), start=1):
        answer = stored.completion
        rows.append(
            {
                "number": number,
                "purpose": stored.request.purpose,
                "model": stored.model if answer is None else answer.model,
                "status": stored.status if answer is None else answer.outcome,
                "input": 0 if answer is None else answer.usage.input_tokens,
                "output": 0 if answer is None else answer.usage.output_tokens,
                "seconds": 0.0 if answer is None else answer.latency_s,
                "lost": stored.lost,
            }
        )
    return rows


def _difference(before: str, after: str) -> list[list[str]]:
    """Returns lines with their signs, ` `, `-` or `+`; long stretches that stayed are left out, `@`."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=3, lineterm="")
    kept = [line for line in lines if not line.startswith(("---", "+++"))]
    return [["@", ""] if line.startswith("@@") else [line[:1], line[1:]] for line in kept]


def _short(payload: Any) -> str:
    text = json.dumps(payload, ensure_ascii=False)
    return text if len(text) <= LATEST_EVENTS * 5 else text[: LATEST_EVENTS * 5] + "…"
