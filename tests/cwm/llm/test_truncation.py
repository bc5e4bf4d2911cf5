import threading
from dataclasses import dataclass

import pytest

from cwm.llm.api import BudgetExceededError, Completion, LanguageModelError, Message, Request, Usage
from cwm.llm.budget import Budget, Budgeted
from cwm.llm.concurrency import SideBySide
from cwm.llm.journaled import Journaled
from cwm.llm.providers.scripted import Scripted
from cwm.llm.truncation import CountedQuestions, complete_whole
from cwm.record.record import RunRecord

HELLO = (Message("user", "hello"),)


@dataclass(frozen=True)
class Settings:
    max_output_tokens: int = 100
    max_truncated_retries: int = 2
    truncated_growth: float = 2.0
    temperature: float | None = 0.5


def cut(request: Request) -> Completion:
    outcome = "truncated" if request.max_output_tokens < 400 else "ok"
    return Completion(str(request.max_output_tokens), outcome, "m-1", Usage(2, 3))  # type: ignore[arg-type]


def test_a_truncated_answer_is_asked_again_with_more_room_and_is_otherwise_the_same_question() -> None:
    model = Scripted(cut)
    assert complete_whole(model.complete, HELLO, "value", Settings()).text == "400"
    assert model.requests == [Request(HELLO, "value", cap, temperature=0.5) for cap in (100, 200, 400)]


def test_an_answer_that_stays_cut_off_is_given_back_as_truncated() -> None:
    model = Scripted(cut)
    settings = Settings(max_truncated_retries=2, truncated_growth=1.5)
    assert complete_whole(model.complete, HELLO, "value", settings).outcome == "truncated"
    assert [request.max_output_tokens for request in model.requests] == [100, 150, 225]


def test_a_refusal_is_not_asked_again() -> None:
    refused = Completion("no", "refused", "m-1")
    assert complete_whole(Scripted([refused, "hi"]).complete, HELLO, "value", Settings()) == refused


def test_questions_count_every_answer_also_those_before_a_cap() -> None:
    truncated = Completion("", "truncated", "m-1", Usage(2, 3))
    questions = CountedQuestions(Scripted([truncated, BudgetExceededError("enough")]), "value", Settings())
    with pytest.raises(BudgetExceededError):
        questions.ask("hello")
    assert questions.totals() == {"calls": 1, "input_tokens": 2, "output_tokens": 3}


def by_place(request: Request) -> Completion:
    """Answers as a deterministic server would: by the request's key and how often it was asked; some are cut off."""
    short = request.max_output_tokens < 400 and (request.occurrence or 0) % 2 == 1
    text = f"{request.max_output_tokens}/{request.occurrence}"
    return Completion(text, "truncated" if short else "ok", "m-1", Usage(2, 3))


def asked(at_once: int, record: RunRecord, budget: Budget | None = None) -> tuple[list[str], dict[str, int]]:
    model = Journaled(Budgeted(Scripted(by_place), budget or Budget()), record.calls)
    questions = CountedQuestions(SideBySide(model, at_once) if at_once > 1 else model, "value", Settings())
    texts: list[str] = []
    try:
        texts.extend(answer.text for answer in questions.each("hello", 9))
    except BudgetExceededError:
        texts.append("cap")
    return texts, questions.totals()


@pytest.mark.parametrize("at_once", [2, 4, 32])
def test_however_many_are_asked_at_once_the_answers_and_the_journal_are_the_same(at_once: int) -> None:
    alone, together = RunRecord.memory(), RunRecord.memory()
    assert asked(1, alone) == asked(at_once, together)
    kept = [
        {(call.key, call.occurrence): call.completion for call in record.calls.calls()} for record in (alone, together)
    ]
    assert kept[0] == kept[1]


def test_questions_are_under_way_at_the_same_time_and_no_more_than_were_asked_for() -> None:
    together = threading.Barrier(3, timeout=10.0)

    def wait(request: Request) -> Completion:
        together.wait()
        return Completion("hi", "ok", "m-1")

    questions = CountedQuestions(SideBySide(Scripted(wait), 3), "value", Settings())
    assert [answer.text for answer in questions.each("hello", 6)] == ["hi"] * 6


def test_a_run_that_a_cap_ended_asks_only_what_it_has_not_answered_when_it_goes_on() -> None:
    record = RunRecord.memory()
    texts, _ = asked(4, record, Budget(calls=5))
    assert texts[-1] == "cap"
    assert sum(call.completion is not None for call in record.calls.calls()) == 5
    budget, full = Budget(), Budget()
    assert asked(4, record, budget)[0] == asked(1, RunRecord.memory(), full)[0]
    assert budget.total().calls == full.total().calls - 5


def test_a_failure_is_raised_behind_the_answers_before_it_and_others_of_ours_at_once() -> None:
    answers = {0: "first", 1: LanguageModelError("no"), 2: "third"}
    failing = SideBySide(Scripted(lambda request: answers[request.occurrence or 0]), 2)
    found = CountedQuestions(failing, "value", Settings()).each("hello", 3)
    assert next(found).text == "first"
    with pytest.raises(LanguageModelError, match="no"):
        next(found)

    def broken(request: Request) -> Completion:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        next(CountedQuestions(SideBySide(Scripted(broken), 2), "value", Settings()).each("hello", 3))
