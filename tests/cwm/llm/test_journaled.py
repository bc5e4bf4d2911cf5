"""The journal around a model: stored before it is sent, stored before it is used, never asked twice."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cwm.llm.api import Completion, LanguageModelError, Message, Request
from cwm.llm.journaled import Journaled, StoredCall
from cwm.llm.providers.scripted import Scripted
from cwm.llm.requests import (
    canonical_request,
    completion_from_json,
    completion_to_json,
    request_from_json,
    request_key,
    request_to_json,
)
from cwm.llm.retry import TransientError
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

REQUEST = Request((Message("user", "Hello"),), "transition", 100, temperature=0.5, seed=1)


class LoggingStore(RecordedCalls):
    def __init__(self) -> None:
        super().__init__(Journal(None))
        self.log: list[str] = []

    def begin(self, call: StoredCall) -> Completion | None:
        self.log.append("begin")
        return super().begin(call)

    def finish(self, key: str, occurrence: int, completion: Completion, lost: int) -> None:
        self.log.append("finish")
        super().finish(key, occurrence, completion, lost)


def test_a_request_is_stored_before_it_is_sent_and_its_answer_before_it_is_used() -> None:
    store = LoggingStore()

    def ask(_: Request) -> str:
        store.log.append("send")
        assert [call.status for call in store.calls()] == ["sent"]
        return "hi"

    Journaled(Scripted(ask), store).complete(REQUEST)
    store.log.append("use")
    assert store.log == ["begin", "send", "finish", "use"]


def test_a_resumed_run_makes_no_second_call_and_gets_the_same_answers() -> None:
    store = RecordedCalls(Journal(None))
    first = Journaled(Scripted(["a", "b"]), store)
    answers = [first.complete(REQUEST), first.complete(REQUEST)]
    script = Scripted(["c"])
    resumed = Journaled(script, store)
    assert [resumed.complete(REQUEST), resumed.complete(REQUEST)] == answers
    assert script.requests == []
    assert resumed.complete(REQUEST).text == "c"
    assert script.requests == [replace(REQUEST, occurrence=2)]


def test_equal_requests_have_answers_of_their_own() -> None:
    store = RecordedCalls(Journal(None))
    model = Journaled(Scripted(["a", "b"]), store)
    assert [model.complete(REQUEST).text for _ in range(2)] == ["a", "b"]
    assert [call.occurrence for call in store.calls()] == [0, 1]


def test_two_models_do_not_answer_for_each_other() -> None:
    store = RecordedCalls(Journal(None))
    Journaled(Scripted(["a"], name="one"), store).complete(REQUEST)
    assert Journaled(Scripted(["b"], name="two"), store).complete(REQUEST).text == "b"


def test_a_failed_call_is_stored_as_failed_and_asked_again_on_resume() -> None:
    store = RecordedCalls(Journal(None))
    late = TransientError("late.", "timeout", maybe_billed=True)
    with pytest.raises(LanguageModelError):
        Journaled(Scripted([late]), store).complete(REQUEST)
    assert [(call.status, call.message, call.lost) for call in store.calls()] == [("failed", "late.", 1)]
    assert Journaled(Scripted(["hi"]), store).complete(REQUEST).text == "hi"
    assert [(call.status, call.lost) for call in store.calls()] == [("answered", 1)]


@pytest.mark.parametrize(("model", "lost"), [("openai:m-1", 1), ("spool:here", 0)])
def test_a_call_that_a_kill_cut_off_is_asked_again_and_remembered(model: str, lost: int) -> None:
    store = RecordedCalls(Journal(None))
    store.begin(StoredCall(request_key(REQUEST, model), 0, model, REQUEST))
    assert Journaled(Scripted(["hi"], name=model), store).complete(REQUEST).text == "hi"
    assert [(call.status, call.lost) for call in store.calls()] == [("answered", lost)]


@pytest.mark.parametrize("outcome", ["truncated", "refused", "empty"])
def test_an_answer_that_is_not_good_keeps_its_outcome_in_the_journal(outcome: str) -> None:
    store = RecordedCalls(Journal(None))
    answer = Completion("half", outcome, "m-1")  # type: ignore[arg-type]
    Journaled(Scripted([answer]), store).complete(REQUEST)
    assert Journaled(Scripted([]), store).complete(REQUEST).outcome == outcome


def changed() -> Iterator[Request]:
    yield replace(REQUEST, messages=(Message("user", "Hello "),))
    yield replace(REQUEST, messages=(Message("system", "Hello"),))
    yield replace(REQUEST, max_output_tokens=101)
    yield replace(REQUEST, temperature=0.6)
    yield replace(REQUEST, temperature=None)
    yield replace(REQUEST, seed=2)


def test_the_key_holds_every_sampling_parameter_and_nothing_volatile() -> None:
    key = request_key(REQUEST)
    assert len({key, *(request_key(other) for other in changed())}) == 7
    assert request_key(replace(REQUEST, purpose="value", occurrence=3)) == key
    assert request_key(replace(REQUEST, temperature=1)) == request_key(replace(REQUEST, temperature=1.0))
    assert request_key(REQUEST, "openai:m-1") not in (key, request_key(REQUEST, "openai:m-2"))


def test_the_key_of_a_fixed_request_never_changes() -> None:
    assert request_key(REQUEST) == "5f713a06476c858430335e2d807fde7d9e2a49c17d362a7551290fc67f648247"
    assert request_key(Request((Message("user", "\ud800é"),), "x"))


def test_requests_and_completions_come_back_from_json_as_they_were() -> None:
    request = replace(REQUEST, occurrence=4)
    assert request_from_json(request_to_json(request)) == request
    assert request_from_json(canonical_request(REQUEST)) == replace(REQUEST, purpose="")
    completion = Completion("hi", "refused", "m-1", latency_s=1.5, metadata={"date": "2026-01-01"})
    assert completion_from_json(completion_to_json(completion)) == completion


@pytest.mark.parametrize("data", [{}, {"text": "x", "model": "m", "outcome": "fine"}, {"text": "x", "outcome": "ok"}])
def test_a_stored_completion_that_is_none_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"outcome|completion"):
        completion_from_json(data)
