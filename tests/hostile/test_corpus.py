"""Every program of the corpus, at every level of this machine: nothing gets out, and each end is named in time."""

import os
import re
from pathlib import Path

import pytest

from cwm.sandbox.wire.api import Outcome

PROGRAMS = Path(__file__).with_name("programs")
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
FIRST_SHARED = 424
FAMILIES = {
    "crash",
    "environment",
    "exec",
    "files",
    "limits",
    "loops",
    "memory",
    "network",
    "output",
    "parent",
    "patches",
    "processes",
    "protocol",
    "signals",
    "source",
    "syscalls",
    "trace",
    "walks",
    "writes",
}


def counted(tally, level, verdict):
    user = "root" if os.geteuid() == 0 else "a user who is not root"
    tally(f"Corpus at level {level}, as {user}", len(verdict.breaches), verdict.late_s)
    return verdict


def judge(case, verdict):
    assert verdict.breaches == []
    assert verdict.outcome in case.expected, verdict.replies[-1]
    assert verdict.late_s <= 0.5


def test_every_family_is_there_and_the_corpus_is_not_small(cases):
    assert {case.family for case in cases} == FAMILIES
    assert len(cases) >= 80


def test_numbers_of_system_calls_in_programs_are_the_same_call_on_both_processors():
    tables = {machine: calls_of(header) for machine, header in HEADERS.items()}
    pairs = [
        (path.name, int(one), int(other))
        for path in PROGRAMS.glob("*.py")
        for one, other in re.findall(r'{"x86_64": (\d+), "aarch64": (\d+)}\[platform', path.read_text("utf-8"))
    ]
    assert len(pairs) >= 10
    for name, one, other in pairs:
        assert tables["x86_64"][one] == tables["aarch64"][other], name


def test_other_numbers_of_system_calls_in_programs_are_those_that_all_processors_share():
    for path in PROGRAMS.glob("*.py"):
        for number in re.findall(r"\bsyscall\((\d+)\b", path.read_text("utf-8", "replace")):
            assert int(number) >= FIRST_SHARED, path.name


def calls_of(header):
    """Returns the names of system calls by number, from a header of the kernel."""
    if not header.is_file():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text("ascii"), re.MULTILINE)
    return {int(number): name for name, number in found}


def test_no_program_is_expected_to_be_a_failure_of_ours(cases):
    assert not any(outcome.is_ours for case in cases for outcome in case.expected)


def test_a_program_does_no_harm_at_level_strong(case, gauntlet, tally):
    judge(case, counted(tally, "strong", gauntlet.run_in_time(case, "strong")))


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("level", ["strong without Landlock", "strong+"])
def test_a_program_does_no_harm_at_the_other_strong_levels(case, level, gauntlet, strong_levels, tally):
    if level not in strong_levels:
        pytest.skip(f"this machine has no level {level}")
    judge(case, counted(tally, level, gauntlet.run_in_time(case, level)))


def test_the_detectors_see_the_attacks_that_succeed_at_level_process(case, gauntlet, tally):
    verdict = counted(tally, "process (the control: breaches are expected)", gauntlet.run(case, "process"))
    assert verdict.outcome in set(Outcome)
    assert verdict.breaches != []


test_the_detectors_see_the_attacks_that_succeed_at_level_process.wanted = lambda case: case.process == "breach"


def test_at_least_twenty_attacks_succeed_at_level_process(cases):
    assert sum(case.process == "breach" for case in cases) >= 20
