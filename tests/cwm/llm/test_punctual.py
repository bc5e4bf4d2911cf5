"""Late answers are the answerer's fault, are marked, and cost what they may have cost."""

import pytest

from cwm.llm.api import AnswerTimeoutError, Completion, LanguageModelError, Message, Request, Usage
from cwm.llm.budget import Budget, Budgeted
from cwm.llm.providers.scripted import Answer, Scripted
from cwm.llm.punctual import LATE, Punctual
from cwm.llm.retry import GaveUpError, Retrying, RetryPolicy, TransientError

REQUEST = Request((Message("user", "abc" * 10),), "player", max_output_tokens=50)


def timed(seconds: float) -> Completion:
    return Completion("yes", "ok", "m", Usage(3, 4), latency_s=seconds, metadata={"date": "d"})


def ask(answer: Answer, timeout_s: float = 2.0) -> Completion:
    return Punctual(Scripted([answer]), timeout_s).complete(REQUEST)


def test_an_answer_in_time_is_left_as_it_is() -> None:
    assert ask(timed(2.0)) == timed(2.0)


def test_a_late_answer_is_marked_and_still_paid_for() -> None:
    found = ask(timed(2.5))
    assert found.metadata == {"date": "d", LATE: 2.0}
    assert (found.text, found.usage) == ("yes", Usage(3, 4))


def test_an_answer_that_never_came_is_empty_marked_and_counted_at_its_worst() -> None:
    found = ask(AnswerTimeoutError("nothing"))
    assert (found.text, found.outcome, found.model) == ("", "empty", "scripted:list")
    assert found.metadata[LATE] == 2.0
    assert found.usage.output_tokens == 50
    assert found.usage.estimated


def test_another_failure_stays_a_failure() -> None:
    with pytest.raises(LanguageModelError, match="down"):
        ask(LanguageModelError("down"))


@pytest.mark.parametrize(("kind", "late"), [("timeout", True), ("server", False)])
def test_a_provider_that_ran_out_of_time_is_late_and_a_broken_one_is_not(kind: str, late: bool) -> None:
    failures = [TransientError("slow", kind, maybe_billed=True)] * 3  # type: ignore[arg-type]
    policy = RetryPolicy(attempts=2, timeout_attempts=1)
    budget = Budget()
    inner = Retrying(Scripted(failures), policy, sleep=lambda seconds: None)
    model = Budgeted(Punctual(inner, 2.0), budget)
    if not late:
        with pytest.raises(GaveUpError):
            model.complete(REQUEST)
        return
    assert LATE in model.complete(REQUEST).metadata
    assert (budget.total().calls, budget.total().output_tokens, budget.total().empty) == (1, 50, 1)
