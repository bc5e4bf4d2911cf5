"""`cwm posg speed`: ours alone, and beside another process that answers in lines of JSON."""

import json
import shlex
import sys

import pytest

from arena.benchmarks.measurement import Measurement
from arena.benchmarks.posg_speed import PLANNERS, OtherPackage, SpeedSettings, measure
from arena.usage import UsageError

BRIEF = SpeedSettings(seconds=0.01, steps=2, rounds=1)
ANSWERS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    known = asked["what"] in ("step", "pomcp")
    print(json.dumps({"count": 10, "cpu_s": 2.0} if known else {"missing": "no " + asked["what"]}), flush=True)
"""


def command(program: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


def test_steps_and_every_planner_are_measured() -> None:
    told: list[Measurement] = []
    found = measure(["mabc"], BRIEF, None, told.append)
    assert [one.name for one in found] == [f"posg/mabc/{what}" for what in ("step", *PLANNERS)]
    assert all(one.value is not None and one.value > 0.0 and one.baseline is None for one in found)
    assert told == found


def test_another_package_is_measured_in_turn_where_it_answers() -> None:
    with OtherPackage(command(ANSWERS)) as other:
        found = measure(["mabc"], BRIEF, other, lambda one: None)
    assert [one.baseline for one in found] == [5.0, 5.0, None, None, None]
    assert all(one.ratio == pytest.approx((one.value or 0.0) / 5.0) for one in found[:2])
    assert found[2].note == "types uniform; not beside: no ipomcp"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "gave no line of JSON to"),
        (f"input(); print({json.dumps(json.dumps({'count': 3}))})", "not count and cpu_s, or missing."),
    ],
)
def test_a_package_that_does_not_answer_is_named(program: str, said: str) -> None:
    with OtherPackage(command(program)) as other, pytest.raises(UsageError, match=said):
        measure(["mabc"], BRIEF, other, lambda one: None)


def test_a_command_that_cannot_be_started_is_named() -> None:
    with pytest.raises(UsageError, match="'/no/such/program' cannot be started"):
        OtherPackage("/no/such/program")
