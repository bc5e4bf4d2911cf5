"""Answers of probes that a function forged: each check says that it could not check, and none raises."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, Self

import pytest

from cwm.functions.joint.check import JointChecker
from cwm.functions.prior_check import ProcessPriorChecker
from cwm.functions.types import FunctionReport
from cwm.functions.value_check import ProcessValueChecker
from cwm.functions.vectors_check import CHUNK, ProcessVectorChecker
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Outcome, Reply
from cwm.synthesis.testing import TesterSettings
from games.api import GameInfo

INFO: Final = GameInfo("toy", 2, "zero_sum", -1.0, 1.0, False, True, ("first", "second"))
SETTINGS: Final = TesterSettings()
FIGURES: Final = {"problems": [], "states": 1, "compared": 2, "calls": 3, "seconds": 0.5, "asked": [[]]}
LONG: Final = 10**400
"""No float holds it."""
PROBLEMS: Final[list[Any]] = [None, 5, [5], [5, None], {"a": 1}, "abc", ["x"] * 101, ["x" * 20_001]]
FORGED: Final[list[tuple[Any, Any]]] = [
    *((first, None) for first in (None, 5, "abc", [], {})),
    *(
        ({name: FIGURES[name] for name in FIGURES if name != left_out}, None)
        for left_out in FIGURES
        if left_out != "compared"
    ),
    *(
        (FIGURES | {name: value}, None)
        for name in ("calls", "states", "seconds")
        for value in (LONG, -1, "1", None, True)
    ),
    (FIGURES | {"calls": 10**300, "seconds": 1e-300}, None),
    *((FIGURES | {"problems": problems}, None) for problems in PROBLEMS),
    *((FIGURES | {"asked": asked}, None) for asked in ([[]] * 61, {"a": 1}, "abc", None)),
    *((FIGURES, again) for again in (None, 5, [5, None], "abc", {})),
    *((FIGURES, {"problems": problems}) for problems in PROBLEMS),
]
OTHERWISE: Final = "it could not be checked: its worker's answer is not what was asked for"


def joint() -> JointChecker:
    materials: Any = SimpleNamespace()
    return JointChecker(materials, "prior_source", "policy", "repeat_policy", {})


def prior() -> ProcessPriorChecker:
    return ProcessPriorChecker("", INFO, None, SETTINGS, games=1, points=1, draws=1)


CHECKS: Final[dict[str, Callable[[], Any]]] = {"joint": joint, "prior": prior}


def answered(monkeypatch: pytest.MonkeyPatch, name: str, *answers: Any) -> FunctionReport:
    checker = CHECKS[name]()
    replies = iter([Reply(Outcome.OK, answer) for answer in answers])
    monkeypatch.setattr(type(checker), "_ask", lambda *_: next(replies))
    (report,) = checker([""])
    assert isinstance(report, FunctionReport)
    return report


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize(("first", "again"), FORGED, ids=range(len(FORGED)))
def test_answers_that_a_function_forged_leave_it_unchecked(
    monkeypatch: pytest.MonkeyPatch, name: str, first: Any, again: Any
) -> None:
    assert answered(monkeypatch, name, first, again).problems == (OTHERWISE,)


@pytest.mark.parametrize("compared", [LONG, -1, 2.0, None])
def test_a_forged_count_of_compared_states_leaves_a_prior_unchecked(
    monkeypatch: pytest.MonkeyPatch, compared: Any
) -> None:
    assert answered(monkeypatch, "prior", FIGURES | {"compared": compared}).problems == (OTHERWISE,)


@pytest.mark.parametrize(("name", "checked"), [("joint", 1), ("prior", 3)])
def test_what_another_process_finds_is_reported_beside_the_speed(
    monkeypatch: pytest.MonkeyPatch, name: str, checked: int
) -> None:
    assert answered(monkeypatch, name, FIGURES, {"problems": ["other"]}) == FunctionReport(("other",), 6.0, checked)


@pytest.mark.parametrize("name", CHECKS)
def test_what_one_process_finds_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert answered(monkeypatch, name, FIGURES | {"problems": ["wrong"]}).problems == ("wrong",)


class Forger:
    """A worker that has loaded its program, and is told what to answer."""

    def __init__(self, answer: Any) -> None:
        self.loaded = Reply(Outcome.OK)
        self._answer = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run_tests(self, *_: object, **__: object) -> Reply:
        return Reply(Outcome.OK, [])

    def payload(self, *_: object, **__: object) -> Reply:
        return Reply(Outcome.OK, self._answer)


TIMES: Final = {"calls": 1, "seconds": 0.5, "states": 1, "wrong_ends": 0, "out_of_bounds": 0}
FORGED_TIMES: Final[list[Any]] = [
    *(None, 5, "abc", [], {}),
    *({key: TIMES[key] for key in TIMES if key != left_out} for left_out in TIMES),
    *(TIMES | {key: value} for key in TIMES for value in (LONG, -1, "1", None, True)),
    TIMES | {"seconds": 0},
    TIMES | {"calls": 10**300, "seconds": 1e-300},
]


@pytest.mark.parametrize("forged", FORGED_TIMES, ids=range(len(FORGED_TIMES)))
def test_forged_times_of_a_value_function_leave_it_unmeasured(monkeypatch: pytest.MonkeyPatch, forged: Any) -> None:
    monkeypatch.setattr(Sandbox, "start", lambda *_: Forger(forged))
    (report,) = ProcessValueChecker("", [], INFO, None, SETTINGS)([""])
    assert report.problems == ("its worker's answer on random games is not what was asked for",)


VECTORS: Final = {"answers": [[[1.0], ""]], "seconds": 0.5}
FORGED_VECTORS: Final[list[Any]] = [
    *(None, 5, "abc", [], {}),
    *(VECTORS | {"seconds": seconds} for seconds in (LONG, -1, "1", None, True, 5e-324)),
    *(
        VECTORS | {"answers": answers}
        for answers in (None, {}, "a", [], [[[1.0], ""]] * 3, [5], [[1]], [[[1.0], None]])
    ),
    VECTORS | {"answers": [[None, "x" * 20_001]]},
]


@pytest.mark.parametrize("forged", FORGED_VECTORS, ids=range(len(FORGED_VECTORS)))
def test_forged_answers_of_functions_of_vectors_leave_them_unchecked(
    monkeypatch: pytest.MonkeyPatch, forged: Any
) -> None:
    monkeypatch.setattr(Sandbox, "start", lambda *_: Forger(forged))
    checker = ProcessVectorChecker([(0, {"pot": 2})], INFO, SETTINGS)
    (report,) = checker([""])
    assert report.problems == ("the worker's answer about observation_to_vector is not what was asked for",)
    assert checker.round_trip("", [(0, {"pot": 3})]).errors == {"broken": 1}


def test_times_that_no_float_holds_together_leave_vectors_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "start", lambda *_: Forger({"answers": [[[1.0], ""]] * CHUNK, "seconds": 1e308}))
    (report,) = ProcessVectorChecker([(0, {"pot": pot}) for pot in range(2 * CHUNK)], INFO, SETTINGS)([""])
    assert report.problems == ("the worker's answer about observation_to_vector is not what was asked for",)
