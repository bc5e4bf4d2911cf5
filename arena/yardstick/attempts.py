"""One synthesis of the yardstick as its folder tells it: right or not, after how many calls, and if not, why not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.runs.folder import read_result
from arena.yardstick.line import Attempt, State
from cwm.llm.budget import Budget, Price, Tally
from cwm.llm.journaled import StoredCall
from cwm.record.record import RUN_FILE, RunRecord

COMPARED: Final = ("transition", "inference")
"""Kinds of held-out tests that must all be right."""
_PLURAL: Final = {"transition": "transitions", "inference": "inferences"}
_REASON_LENGTH: Final = 120


@dataclass(frozen=True)
class Used:
    """What a synthesis has asked so far.

    Attributes:
        tally: calls, tokens, cost.
        seconds: spent waiting for answers.
        models: names that the answers say.
        dates: on which they were recorded, where that is said.
    """

    tally: Tally
    seconds: float
    models: frozenset[str]
    dates: frozenset[str]


def used(folder: Path, price: Price | None) -> Used:
    """Returns what a synthesis has asked, counted from its stored calls.

    Args:
        folder: of the synthesis, which need not be there.
        price: of its language model, None if nobody said.

    Raises:
        RunCorruptError: a file is damaged.
    """
    calls: Sequence[StoredCall] = ()
    if (folder / RUN_FILE).exists():
        with RunRecord.read(folder) as record:
            calls = list(record.calls.calls())
    counted = Budget()
    counted.restore_from(calls, dict.fromkeys((call.model for call in calls), price))
    answers = [call.completion for call in calls if call.completion is not None]
    return Used(
        counted.total(),
        sum(answer.latency_s for answer in answers),
        frozenset(answer.model for answer in answers),
        frozenset(str(answer.metadata["date"])[:10] for answer in answers if answer.metadata.get("date")),
    )


def attempt(folder: Path, seed: int, spent: Used, most_calls: int, problem: str) -> Attempt:
    """Returns what a synthesis came to.

    Args:
        folder: of the synthesis, which need not be there.
        seed: of the synthesis.
        spent: what it has asked.
        most_calls: that it may make.
        problem: what broke it off through a fault of ours; "" for nothing.

    Raises:
        RunCorruptError: a file is damaged.
    """
    tally = spent.tally
    figures = Attempt(
        seed=seed,
        state="unfinished",
        reason="not finished",
        calls=tally.calls,
        input_tokens=tally.input_tokens,
        output_tokens=tally.output_tokens,
        estimated=tally.estimated,
        cost=tally.money,
        seconds=round(spent.seconds, 3),
    )
    if problem:
        return replace(figures, state="error", reason=shortened(problem))
    result = read_result(folder)
    if not result:
        return figures
    kinds = result["evaluations"].get("test", {}).get("kinds", {})
    tested = {name: kinds[name]["accuracy"] for name in COMPARED if name in kinds}
    state, reason = _ended(result, kinds, capped=tally.calls >= most_calls)
    transitions = sum(kinds["transition"][name] for name in _SCORED) if "transition" in kinds else 0
    return replace(
        figures,
        state=state,
        reason=shortened(reason),
        transition=tested.get("transition"),
        inference=tested.get("inference"),
        transitions=transitions,
    )


_SCORED: Final = ("passed", "wrong", "errors", "timeouts", "not_run")


def is_finished(folder: Path, spent: Used, most_calls: int) -> bool:
    """Whether nothing more is to be asked: it came to its end, or its calls are used."""
    return attempt(folder, 0, spent, most_calls, "").state != "unfinished"


def shortened(text: str) -> str:
    """Returns the first line of a text, cut where it is too long for a table."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"


def _ended(result: Mapping[str, Any], kinds: Mapping[str, Any], capped: bool) -> tuple[State, str]:
    synthesis = result["synthesis"]
    if synthesis["reason"] == "budget":
        if not capped:
            return "unfinished", "stopped by a cap on all games together"
        if synthesis["best"] is None:
            return "no program", "no answer held a program, calls used up"
        return "capped", f"calls used up, {_tests(synthesis)}"
    if synthesis["best"] is None or result["model"] is None:
        return "no program", f"no answer held a program: {synthesis['message']}"
    if synthesis["reason"] != "all_tests_pass":
        return "not exact", f"{synthesis['message']}, {_tests(synthesis)}"
    wrong = []
    for name in COMPARED:
        if name in kinds:
            total = sum(kinds[name][verdict] for verdict in _SCORED)
            missed = total - kinds[name]["passed"]
            wrong += [f"{missed:,} of {total:,} held-out {_PLURAL[name]}"] if missed else []
    return ("not exact", f"passes its own tests, {' and '.join(wrong)} wrong") if wrong else ("exact", "")


def _tests(synthesis: Mapping[str, Any]) -> str:
    """Returns how many of its own tests the best program passes, in words: of the kind of which it passes fewest."""
    kind, rate = min(synthesis["accuracy"].items(), key=lambda item: float(item[1]))
    return f"{rate:.1%} of its own {kind.replace('_', ' ')} tests pass"
