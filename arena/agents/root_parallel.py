"""Root parallelism: several searches of the same position, added up into one decision."""

from collections.abc import Sequence
from typing import Any, Final

LARGEST: Final = 1e150
"""Products of smaller numbers are finite; no visits and no returns are as large, and an answer that says so is none."""


def merged(decisions: Sequence[Any]) -> Any:
    """Returns one decision in the JSON form of `search.session.choose`: the action with the most visits over all of
    them; ties go to the higher mean return, then to the action that an earlier search lists earlier.

    A search that gave up has no say while another did not. Answers come from processes in which an untrusted program
    runs: the first that is no decision at all is returned as it is, for the caller to refuse.

    Args:
        decisions: one a search, at least one.
    """
    for decision in decisions:
        if not _is_decision(decision):
            return decision
    errors: dict[str, int] = {}
    for decision in decisions:
        for message, count in decision["errors"].items():
            errors[message] = errors.get(message, 0) + count
    searched = [decision for decision in decisions if decision["fallback"] is None]
    if not searched:
        acting = next((decision for decision in decisions if decision["action"] is not None), decisions[0])
        return acting | {"errors": errors}
    visits: dict[str, int] = {}
    totals: dict[str, float] = {}
    for decision in searched:
        for action, count in decision["visits"].items():
            visits[action] = visits.get(action, 0) + count
            totals[action] = totals.get(action, 0.0) + count * decision["values"].get(action, 0.0)
    values = {action: totals[action] / count for action, count in visits.items() if count}
    return {
        # Of equals `max` returns the first, and a dict keeps the order in which its keys came.
        "action": max(visits, key=lambda action: (visits[action], values.get(action, 0.0))),
        "visits": visits,
        "values": values,
        "simulations": sum(decision["simulations"] for decision in searched),
        "fallback": None,
        "errors": errors,
        # Each believes on its own: the first one's belief stands for all, and its priors.
        **{name: searched[0][name] for name in ("belief_shares", "priors") if name in searched[0]},
    }


def _is_decision(decision: Any) -> bool:
    """Returns whether a worker's answer has the form that is added up."""
    if not isinstance(decision, dict) or not {"action", "fallback", "visits", "values", "errors"} <= set(decision):
        return False
    if decision["fallback"] is None and not (isinstance(decision["action"], str) and decision["visits"]):
        return False
    return (
        isinstance(decision["visits"], dict)
        and isinstance(decision["values"], dict)
        and isinstance(decision["errors"], dict)
        and type(decision.get("simulations")) is int
        and all(type(count) is int and 0 <= count < LARGEST for count in decision["visits"].values())
        and all(type(count) is int for count in decision["errors"].values())
        and all(type(value) in (int, float) and _is_moderate(value) for value in decision["values"].values())
    )


def _is_moderate(value: float) -> bool:
    """Returns whether a number can be added up with others; whole numbers may be larger than any float."""
    return -LARGEST < value < LARGEST
