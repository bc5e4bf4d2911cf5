import pytest

from cwm.sandbox.wire.api import Failure, Outcome, Reply
from cwm.sandbox.wire.blame import Ours, Theirs, blame
from cwm.synthesis import candidate

FAILURE = Failure("KeyError", "'x'", 3, 'Traceback (most recent call last):\n  File "program.py", line 3, in f\n')


def test_a_request_that_succeeded_is_nobody_s_fault() -> None:
    assert blame(Reply(Outcome.OK, 1)) is None


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_all_but_two_outcomes_are_the_program_s_fault(outcome: Outcome) -> None:
    ours = outcome in (Outcome.SANDBOX_UNAVAILABLE, Outcome.INFRA_ERROR)
    assert isinstance(blame(Reply(outcome)), Ours if ours else Theirs)


def test_a_fault_says_what_went_wrong_with_the_frames_of_the_program_or_on_one_line() -> None:
    fault = blame(Reply(Outcome.MODEL_ERROR, failure=FAILURE))
    assert fault is not None
    assert fault.sentence == "KeyError in line 3: 'x'"
    assert fault.problem == f"KeyError in line 3: 'x'\n{FAILURE.traceback.rstrip()}"
    unexplained = blame(Reply(Outcome.CRASHED))
    assert unexplained is not None
    assert (unexplained.sentence, unexplained.problem) == ("no reason is known", "it ended with crashed")


def test_a_fault_of_ours_is_no_problem_of_a_program_but_an_error() -> None:
    assert candidate.problem_of(Reply(Outcome.CRASHED)) == "it ended with crashed"
    assert candidate.problem_of(Reply(Outcome.OK)) is None
    with pytest.raises(candidate.TesterError, match="the sandbox failed: it ended with infra_error"):
        candidate.problem_of(Reply(Outcome.INFRA_ERROR))
