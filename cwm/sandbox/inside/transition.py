"""Checks one recorded transition on a program. Loaded into workers: standard library alone."""

from collections.abc import Callable
from dataclasses import dataclass
from json import dumps
from typing import Any

from cwm.sandbox.inside.calls import FIELDS, MUTATED, ProgramCalls
from cwm.sandbox.inside.comparisons import (
    Mismatch,
    compare_actions,
    compare_chance,
    compare_exactly,
    compare_listed,
    compare_rewards,
)

NOT_REPEATABLE = "not_repeatable"

Compare = Callable[[str, Any, Any], Mismatch | None]


@dataclass(frozen=True)
class _Question:
    """One function to ask, the arguments after the state, and the recorded answer."""

    name: str
    args: tuple[Any, ...]
    expected: Any
    compare: Compare


def check_transition(calls: ProgramCalls, data: dict[str, Any], fields: dict[str, str]) -> list[Mismatch]:
    """Asks every function about one state, twice, and compares.

    Args:
        calls: the program.
        data: `state`, `player`, `player_name`, `rewards`, `observations`, `legal_actions`, `chance`, `action` (None at
            the end) and `next_state`. Where `chance` is None no table of its outcomes is known: what happened must be
            listed.
        fields: takes the name of every field that was checked, with the status `pass`.

    Returns:
        What failed, in the order in which the fields are checked.
    """
    text = dumps(data["state"])
    calls.disturb()
    failed: list[Mismatch] = []
    answers: dict[str, Any] = {}
    for question in _questions(data):
        fields[FIELDS[question.name]] = "pass"
        try:
            answers[question.name] = _ask(calls, question, text, data)
            mismatch = question.compare(FIELDS[question.name], question.expected, answers[question.name])
        except Mismatch as raised:
            del fields[FIELDS[question.name]]
            mismatch = raised
        if mismatch:
            failed.append(mismatch)
    fields[NOT_REPEATABLE] = fields[MUTATED] = "pass"
    # Asked again only now, after every other function has run, so that state kept outside the arguments shows.
    for question in _questions(data):
        mismatch = _repeat(calls, question, text, data, answers)
        if mismatch:
            failed.append(mismatch)
            break
    return failed


def _questions(data: dict[str, Any]) -> list[_Question]:
    questions = [
        _Question("get_current_player", (), data["player"], compare_exactly),
        _Question("get_player_name", (), data["player_name"], compare_exactly),
        _Question("get_rewards", (), data["rewards"], compare_rewards),
        _Question("get_observations", (), data["observations"], compare_exactly),
    ]
    if data["chance"] is None:
        questions.append(_Question("get_legal_actions", (), data["action"], compare_listed))
        questions.append(_Question("get_chance_outcomes", (), data["action"], compare_listed))
    else:
        questions.append(_Question("get_legal_actions", (), data["legal_actions"], compare_actions))
        questions.append(_Question("get_chance_outcomes", (), data["chance"], compare_chance))
    if data["action"] is not None:
        questions.append(_Question("apply_action", (data["action"],), data["next_state"], compare_exactly))
    return questions


def _ask(calls: ProgramCalls, question: _Question, text: str, data: dict[str, Any]) -> Any:
    if question.name == "get_player_name":
        return calls.call(question.name, data["player"])
    return calls.on_state(question.name, text, *question.args)


def _repeat(
    calls: ProgramCalls, question: _Question, text: str, data: dict[str, Any], answers: dict[str, Any]
) -> Mismatch | None:
    if question.name not in answers:
        return None
    first = answers[question.name]
    try:
        second = _ask(calls, question, text, data)
    except Mismatch as raised:
        return Mismatch(NOT_REPEATABLE, f"asked twice, {raised.message}", expected=first, error=raised.error)
    difference = compare_exactly(FIELDS[question.name], first, second)
    if difference is None:
        return None
    message = f"{question.name} answered the same question differently the second time: {difference.message}"
    return Mismatch(NOT_REPEATABLE, message, difference.path, first, second)
