"""Compares one answer of a program with what was recorded. Loaded into workers: standard library alone."""

from collections import Counter
from dataclasses import dataclass
from sys import float_info
from typing import Any

from cwm.sandbox.wire.plain_json import first_difference, is_finite

TOLERANCE = 1e-9
"""Rewards, probabilities and values may differ by this much."""


@dataclass
class Mismatch(Exception):
    """A check failed, or (with `error`) the program raised.

    Attributes:
        field: what was checked, e.g. `legal_actions`.
        message: one sentence.
        path: place within the field, e.g. `.cards[3].position`.
        expected: the whole field as recorded.
        got: the whole field as answered.
        error: JSON form of `Failure` if the program raised.
    """

    field: str
    message: str
    path: str = ""
    expected: Any = None
    got: Any = None
    error: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message)


def compare_exactly(field: str, expected: Any, got: Any) -> Mismatch | None:
    """Compares JSON values; returns the first difference, None if there is none."""
    difference = first_difference(expected, got)
    if difference is None:
        return None
    return Mismatch(field, f"{field}{difference.path}: {difference.message}", difference.path, expected, got)


def is_number(value: Any) -> bool:
    """Returns True for an int or a float, not for a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def compare_rewards(field: str, expected: list[float], got: Any) -> Mismatch | None:
    """Compares one reward a player, to `TOLERANCE`."""
    if not isinstance(got, list) or not all(is_finite(item) for item in got):
        return Mismatch(field, f"{field}: expected a list of numbers, got {got!r}", "", expected, got)
    if len(got) != len(expected):
        return Mismatch(field, f"{field}: expected {len(expected)} rewards, got {len(got)}", "", expected, got)
    for index, (left, right) in enumerate(zip(expected, got, strict=True)):
        # A whole number may be too large to be subtracted from a float.
        if abs(right) > float_info.max or abs(left - right) > TOLERANCE:
            path = f"[{index}]"
            return Mismatch(field, f"{field}{path}: expected {left!r}, got {right!r}", path, expected, got)
    return None


def compare_actions(field: str, expected: list[str], got: Any) -> Mismatch | None:
    """Compares lists of actions as sets; an action given twice is an error too."""
    problem = actions_problem(got)
    if problem is None and set(got) != set(expected):
        missing = [action for action in expected if action not in set(got)]
        surplus = [action for action in got if action not in set(expected)]
        problem = f"missing {missing!r}, not legal {surplus!r}"
    return Mismatch(field, f"{field}: {problem}", "", expected, got) if problem else None


def actions_problem(actions: Any) -> str | None:
    """Returns what is wrong with a list of legal actions as such, None if nothing is."""
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        return f"expected a list of strings, got {actions!r}"
    repeated = [action for action, count in Counter(actions).items() if count > 1]
    return f"given more than once: {repeated!r}" if repeated else None


def compare_chance(field: str, expected: list[list[Any]], got: Any) -> Mismatch | None:
    """Compares chance outcomes as a mapping from action to probability, to `TOLERANCE`."""
    problem = chance_problem(got)
    path = ""
    if problem is None:
        wanted, answered = dict(map(tuple, expected)), dict(map(tuple, got))
        if set(wanted) != set(answered):
            missing = [action for action in wanted if action not in answered]
            surplus = [action for action in answered if action not in wanted]
            problem = f"missing outcomes {missing!r}, impossible outcomes {surplus!r}"
        else:
            wrong = [action for action in wanted if abs(wanted[action] - answered[action]) > TOLERANCE]
            if wrong:
                path = f"[{wrong[0]!r}]"
                problem = f"expected probability {wanted[wrong[0]]!r}, got {answered[wrong[0]]!r}"
    return Mismatch(field, f"{field}{path}: {problem}", path, expected, got) if problem else None


def compare_listed(field: str, happened: str, got: Any) -> Mismatch | None:
    """Checks actions, or chance outcomes, of which no table is known: what happened must be among them.

    Args:
        field: `legal_actions` or `chance_outcomes`.
        happened: the action that was taken.
        got: the program's answer.
    """
    chances = field == "chance_outcomes"
    problem = chance_problem(got) if chances else actions_problem(got)
    if problem is None:
        listed = {action for action, odds in got if odds > 0} if chances else set(got)
        total = sum(odds for _, odds in got) if chances else 1.0
        if happened not in listed:
            problem = f"{happened!r}, which happened, is not among the {len(got)} that are listed"
        elif abs(total - 1.0) > TOLERANCE:
            problem = f"the probabilities sum to {total!r}"
    return Mismatch(field, f"{field}: {problem}", "", happened, f"{len(got)} outcomes") if problem else None


def chance_problem(outcomes: Any) -> str | None:
    """Returns what is wrong with the form of a list of chance outcomes, None if nothing is."""
    if not isinstance(outcomes, list) or not all(_is_outcome(outcome) for outcome in outcomes):
        return f"expected a list of (action, probability) pairs, got {outcomes!r}"
    repeated = [action for action, count in Counter(action for action, _ in outcomes).items() if count > 1]
    return f"given more than once: {repeated!r}" if repeated else None


def _is_outcome(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and is_number(value[1])
