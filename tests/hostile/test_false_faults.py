"""Programs that say of themselves that ours is at fault: no request of any kind, at any level, ends as a fault of ours.

A fault of ours stops a synthesis and takes a test out of an evaluation, so that a program would gain by one.
"""

from dataclasses import asdict

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource
from cwm.suite.execution import RunOptions, run_tests
from cwm.suite.types import UnitTest
from cwm.synthesis.testing import ProcessTester, TesterSettings
from games import registry
from search import session

LIMITS = Limits(memory_mb=256, wall_s=5.0)
LEVELS = ["strong", "strong without Landlock", "strong+", "process"]
CLAIMS = ["unexplained", "infra_error", "sandbox_unavailable"]
INFO = asdict(registry.make("tic_tac_toe").info)
TEST = {"id": "t", "kind": "random_play", "data": {"num_players": 2, "max_length": 20}}

MODEL = """
import json, os, struct, sys

def get_current_player(state): return -4 if state["n"] >= 3 else state["n"] % 2
def get_legal_actions(state): return [] if state["n"] >= 3 else ["a", "b"]
def get_chance_outcomes(state): return []
def apply_action(state, action): return {"n": state["n"] + 1}
def get_rewards(state): return [0.0, 0.0]
def get_observations(state): return [dict(state), dict(state)]
def get_player_name(player): return str(player)
def f(x): return x

def say(value=None, **said):
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        frame = frame.f_back
    reply = {"value": value, "failure": None, "more": False, "output": ""} | said
    data = json.dumps(reply | {"id": frame.f_locals["request"]["id"]}).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
"""
FORGED = {
    "load": "say(outcome='{claim}')\n",
    "call": "def f(x): say(outcome='{claim}')\n",
    "tests": "def get_legal_actions(state): say(outcome='{claim}')\n",
    "payload": "def get_legal_actions(state): say(outcome='{claim}')\n",
}
# Code of ours is made to fail, far from any line of the program.
SABOTAGE = """
broken = compile("def broken(*args, **options): raise TypeError('ours')", "<search.planner>", "exec")
made = {}
exec(broken, made)
for name in ("cwm.sandbox.inside.runner", "search.session"):
    module = sys.modules.get(name)
    for key in ("check_random_play", "playouts"):
        if hasattr(module, key):
            setattr(module, key, made["broken"])
"""
RESULTS = {
    "a cause that only the parent finds": {"status": "error", "fields": {}, "field": "infra_error"},
    "another": {"status": "error", "fields": {}, "field": "sandbox_unavailable"},
    "fields that are no texts": {"status": "fail", "fields": {"value": ["pass"]}},
    "a field that is no text": {"status": "fail", "fields": {}, "field": ["value"]},
    "a status that is no text": {"status": {}, "fields": {}},
    "output that is no list": {"status": "fail", "fields": {}, "output": 5},
    "output that holds no texts": {"status": "fail", "fields": {}, "output": [{}]},
    "a message that is no text": {"status": "fail", "fields": {}, "message": 5},
}


def program(extra: str) -> ProgramSource:
    return ProgramSource(MODEL + extra, {"n": 0}, INFO)


def forged_result(data: dict) -> ProgramSource:
    test = {"id": "t", "kind": "random_play"} | data
    return program(f"def get_legal_actions(state): say(outcome='ok', more=True, value={test!r})\n")


def request_of(kind, worker):
    if worker.loaded.outcome is not Outcome.OK:
        return worker.loaded
    if kind == "tests":
        return worker.run_tests([TEST], seed=0, per_test_s=LIMITS.wall_s)
    if kind == "payload":
        return worker.payload("search.session", "playouts", {"games": 2}, seed=0)
    return worker.call("f", [1], seed=0)


def reply_to(source, kind, level, gauntlet):
    known = gauntlet.sandbox(LIMITS, level)
    landlock = level != "strong without Landlock"
    with Sandbox(LIMITS, known.level, session.PAYLOAD, landlock=landlock).start(source) as worker:
        return request_of(kind, worker)


@pytest.fixture(params=LEVELS)
def level(request, strong_levels):
    if request.param not in (*strong_levels, "process"):
        pytest.skip(f"this machine has no level {request.param}")
    return request.param


@pytest.mark.parametrize("kind", sorted(FORGED))
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_frame_that_says_that_ours_is_at_fault_is_never_believed(kind, claim, level, gauntlet):
    reply = reply_to(program(FORGED[kind].format(claim=claim)), kind, level, gauntlet)
    assert reply.outcome is (Outcome.MODEL_ERROR if claim == "unexplained" else Outcome.PROTOCOL_ERROR), reply


@pytest.mark.parametrize("kind", ["tests", "payload"])
def test_code_of_ours_that_a_program_breaks_in_its_own_process_counts_against_it(kind, level, gauntlet):
    reply = reply_to(program(SABOTAGE), kind, level, gauntlet)
    assert reply.outcome is Outcome.MODEL_ERROR
    assert reply.failure.type == "TypeError"
    assert "not beside one that is known to be right" in reply.failure.message


@pytest.mark.parametrize("data", RESULTS.values(), ids=RESULTS)
def test_a_result_that_a_program_wrote_is_not_taken(data, level, gauntlet):
    reply = reply_to(forged_result(data), "tests", level, gauntlet)
    assert (reply.outcome, reply.value) == (Outcome.PROTOCOL_ERROR, [])


@pytest.mark.parametrize("kind", ["call", "tests", "payload"])
def test_a_program_that_ends_its_process_by_a_signal_from_outside_is_charged_with_it(kind, level, gauntlet):
    killing = "import signal\ndef f(x): signal.raise_signal(9)\ndef get_legal_actions(state): signal.raise_signal(9)\n"
    reply = reply_to(program(killing), kind, level, gauntlet)
    assert (reply.outcome, reply.failure.type) == (Outcome.CRASHED, "SIGKILL")


HOSTILE = {
    **{f"says {claim}": FORGED["tests"].format(claim=claim) for claim in CLAIMS},
    "says unexplained while it loads": FORGED["load"].format(claim="unexplained"),
    "breaks our code": SABOTAGE,
    "kills itself": "import signal\ndef get_legal_actions(state): signal.raise_signal(9)\n",
}


@pytest.mark.parametrize("extra", HOSTILE.values(), ids=HOSTILE)
def test_neither_a_synthesis_nor_an_evaluation_takes_it_for_a_fault_of_ours(extra, strong_levels):
    if not strong_levels:
        pytest.skip("no strong level on this machine")
    suite = [UnitTest(f"t{number}", TEST["kind"], TEST["data"], 0, number) for number in range(4)]
    game = registry.make("tic_tac_toe")
    tester = ProcessTester(suite, game.info, {"n": 0}, TesterSettings(workers=1, level="strong"))
    [report] = tester([program(extra).source])
    assert not report.outcome.is_ours
    results = run_tests(program(extra), suite, Sandbox(LIMITS, "strong"), RunOptions())
    assert [result.status for result in results] == ["error"] * 4
    assert not any(result.outcome.is_ours for result in results)


@pytest.mark.parametrize("data", RESULTS.values(), ids=RESULTS)
def test_a_result_that_a_program_wrote_stays_in_the_count(data, strong_levels):
    if not strong_levels:
        pytest.skip("no strong level on this machine")
    [result] = run_tests(forged_result(data), [UnitTest("t", TEST["kind"], TEST["data"], 0, 0)], Sandbox(LIMITS))
    assert (result.status, result.outcome) == ("error", Outcome.PROTOCOL_ERROR)


@pytest.mark.parametrize("kind", ["tests", "payload"])
def test_code_of_ours_that_fails_beside_every_program_is_a_fault_of_ours(kind, gauntlet, strong_levels):
    level = "strong" if strong_levels else "process"
    broken = ("hostile_breakage",)
    with Sandbox(LIMITS, level, (*session.PAYLOAD, *broken)).start(program("")) as worker:
        assert request_of(kind, worker).outcome is Outcome.INFRA_ERROR
