"""Parents that end in the middle of a call, and a thousand programs in a row: nothing is left of any worker."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
@pytest.mark.alone
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
@pytest.mark.alone
def test_the_corpus_does_no_harm_for_a_user_who_is_not_root_either(stranger, tally):
    packages, home = stranger.folder / "packages", stranger.folder / "home"
    bring_along({"pytest", "hypothesis"}, packages)
    home.mkdir()
    shutil.chown(home, NOBODY, NOBODY)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(home / "pytest"), "-m", "not slow"]
    made = stranger.run(*words, str(Path("tests", "hostile", "test_corpus.py")), path=(str(packages),), home=home)
    counted = re.findall(r"(Corpus at level .*)\n +cases +(\d+)\n +breaches +(\d+)\n.* ([\d.]+)", made.stdout)
    for title, cases, breaches, late_s in counted:
        for number in range(int(cases)):
            tally(title, 0 if number else int(breaches), float(late_s))
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    assert any("level strong, as a user who is not root" in title for title, *_ in counted)


def bring_along(names, folder):
    """Copies installed packages, and what they need, to where everyone may read them."""
    found, left = {}, set(names)
    while left:
        name = left.pop()
        with contextlib.suppress(metadata.PackageNotFoundError):  # another platform's or another version's
            found[name] = metadata.distribution(name)
            needs = [Requirement(line) for line in found[name].requires or []]
            left |= {need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})}
            left -= set(found)
    for item in found.values():
        for file in item.files or []:
            to = folder / file
            if ".." not in file.parts and "__pycache__" not in file.parts:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), to)
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755)
