"""What a report shows of the functions that were asked for beside a model."""

from typing import Any

from arena.figures import formatting
from arena.report.data import FunctionView
from cwm.functions.joint.kinds import every_kind
from cwm.functions.one_shot import FunctionKind
from cwm.record.record import RunRecord


def summary(kind: FunctionKind, found: dict[str, Any]) -> str:
    """Returns who won, with the scores where a tournament decided.

    Args:
        kind: what was asked for.
        found: `FunctionResult` as JSON.
    """
    if not kind.otherwise:
        return str(found["message"])
    baselines = _baselines(found)
    scores = [f"{item['id']}: {item['score']:.2f}" for item in found["candidates"] if item["score"] is not None]
    told = [f"{name}: {score:.2f}" for name, score in baselines.items()]
    shown = f" ({'; '.join([*told, *([', '.join(scores)] if scores else [])])})" if baselines else ""
    chosen = _chosen(found)
    decided = found.get("tournament")
    if decided is not None:
        return f"{_kept(kind, found)}{shown}: {decided['words']}"
    if chosen == "none":
        return f"none: {kind.otherwise}{shown}"
    return (f"{chosen} won the tournament" if chosen in baselines else f"candidate {chosen} won the tournament") + shown


def _kept(kind: FunctionKind, found: dict[str, Any]) -> str:
    chosen = _chosen(found)
    if chosen == "none":
        return f"none: {kind.otherwise}"
    return f"{chosen} stays" if chosen in _baselines(found) else f"candidate {chosen} is used"


def summaries(result: dict[str, Any], by_tournament: bool) -> list[tuple[str, str]]:
    """Returns (title, who won) of each kind that was asked for, of those that a tournament decides or of the others."""
    asked = [
        kind for kind in every_kind() if result.get(kind.result) is not None and bool(kind.otherwise) == by_tournament
    ]
    return [(kind.title, summary(kind, result[kind.result])) for kind in asked]


def views(record: RunRecord, result: dict[str, Any]) -> list[FunctionView]:
    """Returns every candidate and every planner without one, by kind.

    Args:
        record: holds the programs.
        result: of the run, see `run_report.read_result`.
    """
    rows = []
    for kind in every_kind():
        found = result.get(kind.result)
        if found is None:
            continue
        chosen = _chosen(found)
        rows += [
            FunctionView(
                kind.title, name, "baseline", score=score, chosen=name == chosen, strength=_strength(found, name)
            )
            for name, score in _baselines(found).items()
        ]
        rows += [
            FunctionView(
                kind=kind.title,
                name=str(item["id"]),
                status=item["status"],
                problems=tuple(item["report"]["problems"]),
                calls_per_s=item["report"]["calls_per_s"],
                score=item["score"],
                chosen=str(item["id"]) == chosen,
                strength=_strength(found, str(item["id"])),
                source=record.program_source(item["hash"]) if item["hash"] else "",
            )
            for item in found["candidates"]
        ]
    return rows


def _strength(found: dict[str, Any], name: str) -> str:
    """Returns what an entrant scored on fresh deals, with the standard error over them; "" where it played none."""
    fresh = (found.get("tournament") or {}).get("fresh")
    if fresh is None or name not in ("none", _chosen(found)):
        return ""
    own = (fresh["without"], fresh["without_error"]) if name == "none" else (fresh["mean"], fresh["error"])
    return f"{formatting.pair(own, 2)} ({fresh['deals']} deals)"


def _baselines(found: dict[str, Any]) -> dict[str, float]:
    none = found["none_score"]
    named: dict[str, float] = found.get("baselines", {})
    return named if none is None else {"none": none, **named}


def _chosen(found: dict[str, Any]) -> str:
    """Returns the winner's number or name."""
    if found.get("chosen") is not None:
        return str(found["chosen"])
    # Without further baselines only the winner's hash is stored.
    winner = next((item["id"] for item in found["candidates"] if item["hash"] == found["best"]), None)
    return "none" if winner is None else str(winner)
