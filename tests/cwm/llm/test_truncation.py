from dataclasses import dataclass

import pytest

from cwm.llm.api import BudgetExceededError, Completion, Message, Request, Usage
from cwm.llm.providers.scripted import Scripted
from cwm.llm.truncation import CountedQuestions, complete_whole

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
