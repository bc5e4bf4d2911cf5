"""What checks of functions believe of a probe's answer: a function runs in the same process and may have written it."""

from collections.abc import Callable
from typing import Any, Final

from cwm.functions.prior_probe import ASKED_AGAIN
from cwm.functions.types import FunctionReport
from cwm.sandbox.wire.api import Reply
from cwm.sandbox.wire.plain_json import is_finite
from cwm.synthesis.candidate import problem_of
from games.api import Json

UNCHECKED: Final = "it could not be checked"
OTHERWISE: Final = f"{UNCHECKED}: its worker's answer is not what was asked for"
MOST_PROBLEMS: Final = 100
"""Lines of one check, at most; the probes have fewer sorts of problems."""
LONGEST_PROBLEM: Final = 20_000
"""Characters of one of them, at most."""
OTHER_HASH_SEED: Final = 1
"""Of the process in which a function is asked again: what follows the order of a set then shows."""


def judged(reply: Reply, again: Callable[[list[Any]], Reply] | None, *counted: str) -> FunctionReport:
    """Returns what a check's answers say, a problem if they have another form than what was asked for.

    Args:
        reply: to the check: `problems`, `asked`, `calls`, `seconds` and what was counted.
        again: has what was `asked` answered again in another process, None if no check of this kind does.
        counted: names of the numbers that together are how much was checked.

    Raises:
        TesterError: the sandbox failed.
    """
    if problem := problem_of(reply):
        return FunctionReport((f"{UNCHECKED}: {problem}",))
    figures = reply.value
    if not _are_figures(figures, counted):
        return FunctionReport((OTHERWISE,))
    problems = list(figures["problems"])
    if not problems and figures["asked"] and again is not None:
        problems = _problems(again(figures["asked"]))
    speed = figures["calls"] / figures["seconds"] if figures["seconds"] else None
    return FunctionReport(tuple(problems), speed, sum(figures[name] for name in counted))


def are_counts(value: Json, names: tuple[str, ...]) -> bool:
    """Returns whether an answer has all of these whole numbers, none below 0, and a float can hold their sum."""
    return (
        isinstance(value, dict)
        and all(type(value.get(name)) is int and value[name] >= 0 for name in names)
        and is_finite(sum(value[name] for name in names))
    )


def is_measured(calls: int, seconds: Json) -> bool:
    """Returns whether so many calls can have taken so long: 0 seconds, or some in which their rate is a float."""
    return is_finite(seconds) and seconds >= 0 and (not seconds or is_finite(calls / seconds))


def is_line(value: Json) -> bool:
    """Returns whether an answer's text can be kept."""
    return isinstance(value, str) and len(value) <= LONGEST_PROBLEM


def _problems(again: Reply) -> list[str]:
    if problem := problem_of(again):
        return [f"{UNCHECKED}: {problem}"]
    return list(again.value["problems"]) if _has_problems(again.value) else [OTHERWISE]


def _are_figures(value: Json, counted: tuple[str, ...]) -> bool:
    return (
        _has_problems(value)
        and are_counts(value, ("calls", *counted))
        and is_measured(value["calls"], value.get("seconds"))
        and isinstance(value.get("asked"), list)
        and len(value["asked"]) <= ASKED_AGAIN
    )


def _has_problems(value: Json) -> bool:
    lines = value.get("problems") if isinstance(value, dict) else None
    return isinstance(lines, list) and len(lines) <= MOST_PROBLEMS and all(map(is_line, lines))
