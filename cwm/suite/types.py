"""A unit test and its result, as data."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cwm.sandbox.wire.api import Outcome
from games.api import Json

Kind: TypeAlias = Literal[
    "transition",
    "inference",
    "random_play",
    "value",
    "contract",
    "step",
    "distribution",
    "joint_play",
    "joint_contract",
]
"""The last four are of programs with a joint step. `contract` and `joint_contract` are no tests of a suite: they stand
for a rule that a program breaks which passes them all."""
Status: TypeAlias = Literal["pass", "fail", "error"]


@dataclass(frozen=True)
class UnitTest:
    """One question to a program, with the answer.

    Attributes:
        id: unique within its suite.
        kind: what is asked; decides the keys of `data`.
        data: JSON, see the module of `cwm.sandbox` that checks this kind.
        game: index of the trajectory, -1 if none.
        step: step in the trajectory.
    """

    id: str
    kind: Kind
    data: dict[str, Any]
    game: int
    step: int


@dataclass(frozen=True)
class UnitTestResult:
    """What a program made of one test.

    Attributes:
        id: of the test.
        kind: of the test.
        status: `fail` is a wrong answer; `error` an exception, a limit that was hit, or a death.
        field: what failed first, e.g. `legal_actions`; for a death the outcome; "" if it passed.
        expected: the whole field as recorded.
        got: the whole field as answered.
        message: one sentence that names the first difference.
        output_tail: last ten lines of output.
        path: place of the first difference within the field, e.g. `.cards[3].position`.
        line: line of the program that raised.
        traceback: the program's frames.
        fields: status of every field that was checked.
        outcome: what became of the request; only failures of ours are left out of every score.
    """

    id: str
    kind: Kind
    status: Status
    field: str
    expected: Json
    got: Json
    message: str
    output_tail: str
    path: str = ""
    line: int | None = None
    traceback: str = ""
    fields: dict[str, Status] = dataclasses.field(default_factory=dict)
    outcome: Outcome = Outcome.OK
