"""Every program of the corpus, at every level of this machine: nothing gets out, and each end is named in time."""

import pytest

from cwm.sandbox.api import Outcome

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


def judge(case, verdict):
    assert verdict.breaches == []
    assert verdict.outcome in case.expected, verdict.replies[-1]
    assert verdict.late_s <= 0.5


def test_every_family_is_there_and_the_corpus_is_not_small(cases):
    assert {case.family for case in cases} == FAMILIES
    assert len(cases) >= 80


def test_no_program_is_expected_to_be_a_failure_of_ours(cases):
    assert not any(outcome.is_ours for case in cases for outcome in case.expected)


def test_a_program_does_no_harm_at_level_strong(case, gauntlet):
    judge(case, gauntlet.run_in_time(case, "strong"))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["strong without Landlock", "strong+"])
def test_a_program_does_no_harm_at_the_other_strong_levels(case, level, gauntlet, strong_levels):
    if level not in strong_levels:
        pytest.skip(f"this machine has no level {level}")
    judge(case, gauntlet.run_in_time(case, level))


def test_the_detectors_see_the_attacks_that_succeed_at_level_process(case, gauntlet):
    verdict = gauntlet.run(case, "process")
    assert verdict.outcome in set(Outcome)
    assert verdict.breaches != []


test_the_detectors_see_the_attacks_that_succeed_at_level_process.wanted = lambda case: case.process == "breach"


def test_at_least_twenty_attacks_succeed_at_level_process(cases):
    assert sum(case.process == "breach" for case in cases) >= 20
