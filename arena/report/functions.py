"""What a report shows of the functions that were asked for beside a model."""

from typing import Any

from arena.report.data import FunctionView
from cwm.record.record import RunRecord

KINDS = (("values", "value function"), ("priors", "policy prior"), ("vectors", "observation vectors"))


def summary(found: dict[str, Any], otherwise: str) -> str:
    """Returns who won the tournament, with the scores.

    Args:
        found: `FunctionResult` as JSON.
        otherwise: what it means that none won.
    """
    baselines = _baselines(found)
    scores = [f"{item['id']}: {item['score']:.2f}" for item in found["candidates"] if item["score"] is not None]
    told = [f"{name}: {score:.2f}" for name, score in baselines.items()]
    shown = f" ({'; '.join([*told, *([', '.join(scores)] if scores else [])])})" if baselines else ""
    chosen = _chosen(found)
    if chosen == "none":
        return f"none: {otherwise}{shown}"
    return (f"{chosen} won the tournament" if chosen in baselines else f"candidate {chosen} won the tournament") + shown


def views(record: RunRecord, result: dict[str, Any]) -> list[FunctionView]:
    """Returns every candidate and every planner without one, by kind.

    Args:
        record: holds the programs.
        result: of the run, see `run_report.read_result`.
    """
    rows = []
    for key, kind in KINDS:
        found = result.get(key)
        if found is None:
            continue
        chosen = _chosen(found)
        rows += [
            FunctionView(kind, name, "baseline", score=score, chosen=name == chosen)
            for name, score in _baselines(found).items()
        ]
        rows += [
            FunctionView(
                kind=kind,
                name=str(item["id"]),
                status=item["status"],
                problems=tuple(item["report"]["problems"]),
                calls_per_s=item["report"]["calls_per_s"],
                score=item["score"],
                chosen=str(item["id"]) == chosen,
                source=record.program_source(item["hash"]) if item["hash"] else "",
            )
            for item in found["candidates"]
        ]
    return rows


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
