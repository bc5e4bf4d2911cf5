"""Parents that end in the middle of a call, and a thousand programs in a row: nothing is left of any worker."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from pathlib import Path

import pytest

from cwm.sandbox.wire.api import Outcome

ROOT = Path(__file__).parents[2]
NOBODY = 65534
GONE_S = 10.0
"""The kernel ends orphaned workers at once; this is for a machine that is busy."""
IN_A_ROW = 1000

PARENT = """
import sys
from cwm.sandbox.wire.api import Limits, ProgramSource
from cwm.sandbox.parent.host import Sandbox

INFO = {"id": "g", "num_players": 1, "utility": "general_sum", "min_utility": 0.0, "max_utility": 1.0,
        "perfect_information": True, "has_chance": False, "player_names": ["a"]}
program = ProgramSource("import time\\ndef f(x): time.sleep(600)\\n", {}, INFO)
count, nursery = int(sys.argv[1]), sys.argv[2] == "nursery"
sandbox = Sandbox(Limits(), "strong", nursery=nursery)
workers = [sandbox.start(program) for _ in range(count)]
print("started", flush=True)
workers[-1].call("f", [None], seed=0, timeout_s=600)
"""


def parent_of(count, nursery):
    """Returns a process with so many workers, one of which is in the middle of a call."""
    command = [sys.executable, "-c", PARENT, str(count), "nursery" if nursery else "cold"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"started\n"
    time.sleep(0.2)
    return process


def living(processes):
    return {pid for pid, state in processes.items() if state != "Z"}


def left_over(before, descendants):
    """Returns the processes that are there and were not before, once they had time to end."""
    end = time.monotonic() + GONE_S
    while (left := living(descendants()) - before) and time.monotonic() < end:
        time.sleep(0.05)
    return left


@pytest.mark.parametrize("nursery", [True, False])
def test_nothing_is_left_of_the_workers_of_a_parent_that_is_killed_in_mid_call(nursery, gauntlet, descendants):
    before = living(descendants())
    parent = parent_of(2, nursery)
    assert len(living(descendants()) - before) >= 3
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert left_over(before, descendants) == set()


@pytest.mark.usefixtures("ctrl_c_counts")
def test_ctrl_c_with_a_hundred_workers_leaves_none(gauntlet, descendants):
    before = living(descendants())
    parent = parent_of(100, True)
    assert len(living(descendants()) - before) >= 101
    parent.send_signal(signal.SIGINT)
    assert parent.wait(GONE_S) != 0
    parent.stdout.close()
    assert left_over(before, descendants) == set()


@pytest.mark.slow
def test_a_thousand_hostile_programs_in_a_row_leave_no_process_and_no_descriptor(gauntlet, cases, descendants, figures):
    began = time.monotonic()
    quick = [case for case in cases if not case.takes_its_time and case.limits.wall_s <= 5.0]
    processes, descriptors = living(descendants()), os.listdir("/proc/self/fd")
    seen, breaches = [], []
    while len(seen) < IN_A_ROW:
        verdict = gauntlet.run(quick[len(seen) % len(quick)], "strong")
        breaches += verdict.breaches
        seen.append(verdict.outcome)
    left = {
        "processes left": len(left_over(processes, descendants)),
        "descriptors left": len(os.listdir("/proc/self/fd")) - len(descriptors),
    }
    counts = {f"outcome {outcome}": count for outcome, count in Counter(map(str, seen)).most_common()}
    measured = {"programs": len(seen), "breaches": len(breaches), **left, **counts}
    figures("Hostile programs in a row, at level strong", measured | {"seconds": time.monotonic() - began})
    assert breaches == []
    assert not any(outcome.is_ours for outcome in seen)
    assert Outcome.MODEL_ERROR in seen
    assert left == dict.fromkeys(left, 0)


@pytest.mark.slow
def test_the_corpus_does_no_harm_for_a_user_who_is_not_root_either(tmp_path, tally):
    if os.geteuid() != 0:
        pytest.skip("the tests run as such a user already")
    python = readable_interpreter()
    if python is None:
        pytest.skip("no interpreter of this version is open to other users")
    folder = tmp_path / "nobody"
    folder.mkdir()
    shutil.chown(folder, NOBODY, NOBODY)
    for place in (tmp_path, *tmp_path.parents[:2]):
        place.chmod(place.stat().st_mode | 0o011)
    path = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(folder / "pytest")]
    command += ["-m", "not slow", str(ROOT / "tests" / "hostile" / "test_corpus.py")]
    made = subprocess.run(
        command,
        cwd=ROOT,
        env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder), "PATH": os.defpath},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    counted = re.findall(r"(Corpus at level .*)\n +cases +(\d+)\n +breaches +(\d+)\n.* ([\d.]+)", made.stdout)
    for title, cases, breaches, late_s in counted:
        for number in range(int(cases)):
            tally(title, 0 if number else int(breaches), float(late_s))
    assert made.returncode == 0, made.stdout[-3000:]
    assert any("level strong, as a user who is not root" in title for title, *_ in counted)


def readable_interpreter():
    """Returns an interpreter of this version that any user can start, None if there is none."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (os.path.realpath(sys.executable), *(f"{place}/{name}" for place in ("/usr/bin", "/usr/local/bin"))):
        try:
            tried = subprocess.run([python, "-c", ""], user=NOBODY, group=NOBODY, extra_groups=[], check=False)
        except OSError:
            continue
        if tried.returncode == 0:
            return python
    return None
