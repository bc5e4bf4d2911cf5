"""Workers: what comes back from programs that behave, and from programs that do not."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource, SandboxUnavailableError

INFO = {
    "id": "g",
    "num_players": 1,
    "utility": "general_sum",
    "min_utility": 0.0,
    "max_utility": 1.0,
    "perfect_information": True,
    "has_chance": False,
    "player_names": ["a"],
}


def living_members(group):
    """Returns the processes of a group that are not zombies, from /proc."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, members_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(members_group) == group and state not in "ZX":
                found.append(stat.parent.name)
    return found


def answer(sandbox, program, argument=None, **options):
    with sandbox.start(program) as worker:
        assert worker.loaded.outcome is Outcome.OK
        return worker.call("f", [argument], seed=1, **options)


def test_a_call_returns_plain_json(sandbox, one_function):
    reply = answer(sandbox, one_function("return {'pair': (1, 2.5), 'given': x, 'none': None}"), [True])
    assert reply.outcome is Outcome.OK
    assert reply.value == {"pair": [1, 2.5], "given": [True], "none": None}


def test_what_was_printed_comes_back_beside_the_value(sandbox, one_function):
    reply = answer(sandbox, one_function("print('looking at', x)\nreturn 3"), 7)
    assert (reply.value, reply.output_tail) == (3, "looking at 7\n")


def test_an_exception_names_type_line_and_source(sandbox, one_function):
    failure = answer(sandbox, one_function("y = 1\nreturn x['absent']"), {}).failure
    assert failure.type == "KeyError"
    assert failure.line == 3
    assert failure.traceback == (
        "Traceback (most recent call last):\n"
        '  File "program.py", line 3, in f\n'
        "    return x['absent']\n"
        "KeyError: 'absent'"
    )


@pytest.mark.parametrize("source", ["def f(x:\n", "import no_such_module\n", "raise SystemExit(0)\n", "f = unknown\n"])
def test_a_program_that_does_not_load_is_a_model_error(sandbox, source):
    with sandbox.start(ProgramSource(source, {}, INFO)) as worker:
        assert worker.loaded.outcome is Outcome.MODEL_ERROR
        assert worker.loaded.failure.line == 1


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return float('nan')", Outcome.BAD_VALUE),
        ("return {1, 2}", Outcome.BAD_VALUE),
        ("return {1: 2}", Outcome.BAD_VALUE),
        ("return object()", Outcome.BAD_VALUE),
        ("y = []\ny.append(y)\nreturn y", Outcome.BAD_VALUE),
        ("return '\\ud800'", Outcome.BAD_VALUE),
        ("return 'x' * 3_000_000", Outcome.REPLY_TOO_LARGE),
        ("raise SystemExit(0)", Outcome.MODEL_ERROR),
        ("raise KeyboardInterrupt", Outcome.MODEL_ERROR),
        ("def g(n): return g(n + 1)\nreturn g(0)", Outcome.MODEL_ERROR),
        ("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", Outcome.MODEL_ERROR),
    ],
)
def test_a_worker_survives_bad_answers(sandbox, one_function, body, outcome):
    with sandbox.start(one_function(f"if x: return x\n{body}")) as worker:
        assert worker.call("f", [None], seed=0).outcome is outcome
        assert worker.alive
        assert worker.call("f", ["still here"], seed=0).value == "still here"


@pytest.mark.parametrize(
    ("body", "outcome", "kind"),
    [
        ("import os\nos._exit(0)", Outcome.CRASHED, "Exit"),
        ("import os\nos.abort()", Outcome.CRASHED, "SIGABRT"),
        ("import ctypes\nctypes.string_at(0)", Outcome.CRASHED, "SIGSEGV"),
        ("y = []\nwhile True: y.append(bytearray(1_000_000))", Outcome.MEMORY_EXCEEDED, "MemoryError"),
    ],
)
def test_a_death_is_classified_and_ends_the_worker(sandbox, one_function, body, outcome, kind):
    with sandbox.start(one_function(body)) as worker:
        reply = worker.call("f", [None], seed=0)
        assert (reply.outcome, reply.failure.type) == (outcome, kind)
        assert not worker.alive
        # The program is to blame for what can no longer be asked, too.
        assert worker.call("f", [None], seed=0).outcome is outcome


def test_a_request_to_a_worker_that_the_caller_closed_is_a_fault_of_the_caller(sandbox, one_function):
    worker = sandbox.start(one_function("return x"))
    worker.close()
    assert worker.call("f", [None], seed=0).outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import re\nre.match('(a+)+$', 'a' * 50 + 'b')",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ],
)
def test_an_endless_loop_times_out_and_says_where(sandbox, one_function, body):
    with sandbox.start(one_function(f"print('begun')\n{body}")) as worker:
        reply = worker.call("f", [None], seed=0, timeout_s=0.5)
    assert reply.outcome is Outcome.WALL_TIMEOUT
    assert reply.failure.line >= 3
    assert "in f" in reply.failure.traceback
    assert reply.output_tail == "begun\n"


def test_an_endless_loop_at_import_times_out():
    program = ProgramSource("while True: pass\n", {}, INFO)
    with Sandbox(Limits(wall_s=0.5)).start(program) as worker:
        assert worker.loaded.outcome is Outcome.WALL_TIMEOUT


def test_cpu_time_is_capped_over_the_life_of_a_worker(one_function):
    with Sandbox(Limits(cpu_s=1, wall_s=30.0)).start(one_function("while True: pass")) as worker:
        reply = worker.call("f", [None], seed=0)
    assert reply.outcome is Outcome.CPU_EXCEEDED
    assert reply.failure.line == 2


def test_a_flood_of_output_is_cut_to_its_end(sandbox, one_function):
    reply = answer(sandbox, one_function("for i in range(200): print('x' * 1_000_000)\nprint('end')\nreturn 1"))
    assert reply.value == 1
    assert reply.output_tail.endswith("x\nend\n")
    assert len(reply.output_tail) <= Limits().output_bytes


def test_a_flood_past_stdout_is_cut_too(sandbox, one_function):
    reply = answer(sandbox, one_function("import os\nfor i in range(300): os.write(1, b'y' * 65536)\nreturn 1"))
    assert reply.value == 1


def test_frames_forged_on_stdout_are_only_output(sandbox, one_function):
    body = 'import struct\nframe = \'{"outcome":"ok","value":666}\'\nprint(struct.pack(\'>I\', 27), frame)\nreturn 1'
    assert answer(sandbox, one_function(body)).value == 1


def test_a_frame_written_to_every_descriptor_is_a_protocol_error(sandbox, one_function):
    body = (
        "import os, json\nframe = json.dumps({'id': '0', 'more': False, 'outcome': 'ok', 'value': 666, 'failure': None,"
        " 'output': ''}).encode()\n"
        "for number in range(3, 4096):\n    try: os.write(number, len(frame).to_bytes(4, 'big') + frame)\n"
        "    except OSError: pass\nreturn 1"
    )
    reply = answer(sandbox, one_function(body))
    assert reply.outcome is Outcome.PROTOCOL_ERROR
    assert reply.value is None


def test_a_program_that_replaces_json_and_os_write_changes_no_reply(sandbox, one_function):
    body = (
        "import json, os, random\njson.dumps = json.loads = json.JSONEncoder.encode = None\n"
        "os.write = os.read = random.seed = random.Random = None\nreturn x"
    )
    with sandbox.start(one_function(body)) as worker:
        assert worker.call("f", [1], seed=0).value == 1
        assert worker.call("f", [2], seed=0).value == 2


def test_a_worker_has_no_site_packages_and_no_environment(open_sandbox, one_function):
    reply = answer(open_sandbox, one_function("import os, sys\nreturn [sorted(os.environ), sys.path, os.getcwd()]"))
    names, path, folder = reply.value
    assert set(names) <= {"PATH", "PYTHONHASHSEED", "LC_CTYPE"}
    assert not any("site-packages" in entry for entry in path)
    assert str(Path(__file__).resolve().parents[4]) not in path
    assert folder == "/"


def test_seeds_reproduce_and_differ(sandbox, one_function):
    program = one_function("import random\nreturn random.random()")
    with sandbox.start(program) as first, sandbox.start(program) as second:
        assert first.call("f", [0], seed=3).value == second.call("f", [0], seed=3).value
        assert first.call("f", [0], seed=3).value != first.call("f", [0], seed=4).value


def test_results_do_not_depend_on_the_parents_hash_seed():
    root = Path(__file__).resolve().parents[4]
    code = (
        "from cwm.sandbox.parent.host import Sandbox\nfrom cwm.sandbox.wire.api import ProgramSource\n"
        f"program = ProgramSource('def f(x): return list({{str(i) for i in range(50)}})', {{}}, {INFO!r})\n"
        "with Sandbox().start(program) as worker: print(worker.call('f', [0], seed=0).value)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_two_workers_share_nothing(sandbox):
    program = ProgramSource("kept = []\ndef f(x):\n    kept.append(x)\n    return kept\n", {}, INFO)
    with sandbox.start(program) as first, sandbox.start(program) as second:
        assert first.call("f", [1], seed=0).value == [1]
        assert second.call("f", [2], seed=0).value == [2]
        assert first.call("f", [3], seed=0).value == [1, 3]


def test_a_payload_runs_next_to_the_program(toy):
    with Sandbox(payload=("cwm.sandbox.wire.plain_json",)).start(toy("tic_tac_toe")) as worker:
        reply = worker.payload("cwm.sandbox.worker.service", "_subject", {}, seed=0)
        assert reply.outcome is Outcome.INFRA_ERROR
        assert worker.payload("no.such.module", "f", {}, seed=0).outcome is Outcome.INFRA_ERROR


def test_a_test_that_cannot_be_run_on_any_program_is_a_fault_of_ours(sandbox, toy):
    with sandbox.start(toy("tic_tac_toe")) as worker:
        reply = worker.run_tests([{"id": "t", "kind": "random_play", "data": {}}], seed=0)
        assert reply.outcome is Outcome.INFRA_ERROR
        assert "beside a program that is known to be right" in reply.failure.message


def test_a_level_that_is_not_there_is_refused_in_a_sentence(toy):
    with pytest.raises(SandboxUnavailableError, match="'seatbelt' is not to be had here: this version does not have"):
        Sandbox(level="seatbelt").start(toy("tic_tac_toe"))


def test_every_worker_says_its_level(open_sandbox, toy):
    with open_sandbox.start(toy("tic_tac_toe")) as worker:
        assert worker.level == "process"


def killer_of(folder: Path, times: int, number: int) -> threading.Thread:
    """Returns a thread that kills the processes which write their number into the folder, so many of them."""

    def run() -> None:
        killed: set[int] = set()
        while len(killed) < times:
            for name in set(os.listdir(folder)) - {str(pid) for pid in killed}:
                os.kill(int(name), number)
                killed.add(int(name))
            time.sleep(0.005)

    return threading.Thread(target=run, daemon=True)


# Files of no length can be made at level process, whatever the limit.
SLEEPER = "import os, time\nopen(f'{x}/{os.getpid()}', 'w').close()\ntime.sleep(1.0)\nreturn len(os.listdir(x))"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_killed_once_from_outside_is_asked_again_and_nothing_is_scored(one_function, tmp_path, number):
    killer = killer_of(tmp_path, 1, number)
    killer.start()
    with Sandbox(Limits(), "process").start(one_function(SLEEPER)) as worker:
        reply = worker.call("f", [str(tmp_path)], seed=0)
        assert worker.alive
    killer.join()
    assert (reply.outcome, reply.value) == (Outcome.OK, 2), reply.failure


def test_a_worker_killed_from_outside_twice_in_one_request_counts_as_a_crash(one_function, tmp_path):
    killer = killer_of(tmp_path, 2, signal.SIGKILL)
    killer.start()
    with Sandbox(Limits(), "process").start(one_function(SLEEPER)) as worker:
        reply = worker.call("f", [str(tmp_path)], seed=0)
        assert not worker.alive
    killer.join()
    assert (reply.outcome, reply.failure.type) == (Outcome.CRASHED, "SIGKILL")
    assert len(os.listdir(tmp_path)) == 2


def test_a_worker_killed_between_two_requests_is_replaced(open_sandbox, one_function):
    with open_sandbox.start(one_function("import os\nreturn os.getpid()")) as worker:
        first = worker.call("f", [None], seed=0).value
        os.kill(first, signal.SIGKILL)
        reply = worker.call("f", [None], seed=0)
    assert reply.outcome is Outcome.OK
    assert reply.value != first


def test_tests_that_were_cut_short_by_a_kill_from_outside_go_on_in_a_fresh_worker(open_sandbox, toy):
    test = {"id": "{}", "kind": "random_play", "data": {"num_players": 2, "max_length": 9}}
    tests = [test | {"id": str(number)} for number in range(200)]
    program = toy("tic_tac_toe")
    program = replace(program, source="import os\ndef own_number(): return os.getpid()\n" + program.source)
    with open_sandbox.start(program) as worker:
        clean = worker.run_tests(tests, seed=0).value
        pid = worker.call("own_number", [], seed=0).value
        seen = []

        def kill_after_three(result):
            seen.append(result["id"])
            if len(seen) == 3:
                os.kill(pid, signal.SIGKILL)

        reply = worker.run_tests(tests, seed=0, on_result=kill_after_three)
    assert reply.outcome is Outcome.OK
    assert reply.value == clean
    assert seen == [test["id"] for test in tests]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_nothing_is_left_of_a_worker(open_sandbox, one_function):
    before = sorted(os.listdir("/proc/self/fd"))
    bodies = [
        "return 1",
        "import os\nos._exit(3)",
        "import os\nif os.fork() == 0:\n    import time\n    time.sleep(60)\nreturn 1",
    ]
    groups = []
    for body in bodies:
        with open_sandbox.start(one_function(f"import os\nif x == 'pid': return os.getpid()\n{body}")) as worker:
            groups.append(worker.call("f", ["pid"], seed=0).value)
            worker.call("f", [None], seed=0)
    after = sorted(os.listdir("/proc/self/fd"))
    assert len(before) == len(after)
    assert not any(living_members(group) for group in groups)


def test_a_large_request_crosses(sandbox, one_function):
    assert answer(sandbox, one_function("return len(x)"), "x" * 3_000_000).value == 3_000_000


def test_the_value_function_sees_the_model_but_cannot_replace_it(sandbox, toy):
    source = (
        "def get_rewards(state):\n    return [9.0, 9.0]\n\n\n"
        "def value_function(state, player_id):\n    return float(len(get_legal_actions(state)))\n"
    )
    program = toy("tic_tac_toe", value_source=source)
    with sandbox.start(program) as worker:
        state = json.loads(json.dumps(program.initial_state))
        assert worker.call("value_function", [state, 0], seed=0).value == 9.0
        assert worker.call("get_rewards", [state], seed=0).value == [0.0, 0.0]
