"""Adaptive concurrency: additive up, multiplicative down, and the same answers in whatever order they come."""

import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from cwm.llm.api import Completion, LanguageModel, LanguageModelError, Message, Request
from cwm.llm.concurrency import MOST_AT_ONCE, AdaptiveLimit, Throttled
from cwm.llm.journaled import Journaled
from cwm.llm.providers.factory import make
from cwm.llm.requests import request_key
from cwm.llm.retry import OutOfTimeError, RetryPolicy, TransientError
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal


def complete_all(model: LanguageModel, requests: Sequence[Request], *, at_once: int = MOST_AT_ONCE) -> list[Completion]:
    """Asks several questions at the same time; the answers come back in the order of the requests.

    Equal requests are numbered in that order before the first is sent, so each gets the same answer from a journal or
    a recording whatever comes back first.

    Args:
        model: whom to ask; thread-safe, as every provider is. The requests must be its first of their kind.
        requests: what to ask; a request with an occurrence number keeps it.
        at_once: threads; the provider's own limit may allow fewer.

    Raises:
        LanguageModelError: the first failure in the order of the requests; the other answers are in the journal.
    """
    seen: Counter[str] = Counter()
    numbered: list[Request] = []
    for request in requests:
        key = request_key(request)
        numbered.append(replace(request, occurrence=seen[key]) if request.occurrence is None else request)
        seen[key] += 1
    with ThreadPoolExecutor(max_workers=max(1, at_once), thread_name_prefix="language-model") as threads:
        return [future.result() for future in [threads.submit(model.complete, request) for request in numbered]]


def request(text: str) -> Request:
    return Request((Message("user", text),), "value", 100)


class Provider:
    """Answers with the text of the question; notes how many calls are under way at once."""

    name = "test:m"

    def __init__(self, together: int = 1) -> None:
        self.under_way = self.most = 0
        self.errors: list[Exception] = []
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(together)

    def complete(self, request: Request) -> Completion:
        with self._lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            error = self.errors.pop(0) if self.errors else None
        try:
            if error is not None:
                raise error
            self._barrier.wait(10)
            return Completion(f"{request.messages[0].text} {request.occurrence}", "ok", "m")
        finally:
            with self._lock:
                self.under_way -= 1


def test_a_round_of_good_answers_adds_one_place() -> None:
    limit = AdaptiveLimit(start=2.0, most=4)
    found = []
    for _ in range(12):
        limit.answered()
        found.append(round(limit.limit, 3))
    assert found[:3] == [2.5, 2.9, 3.245]
    assert found[-1] == 4.0


def test_a_refusal_halves_the_limit_down_to_one() -> None:
    limit = AdaptiveLimit(start=6.0)
    found = []
    for _ in range(4):
        with limit.place() as halvings:
            limit.refused(halvings)
        found.append(limit.limit)
    assert found == [3.0, 1.5, 1.0, 1.0]


def test_refusals_of_calls_sent_at_the_old_rate_count_once() -> None:
    limit = AdaptiveLimit(start=8.0)
    with limit.place() as first, limit.place() as second:
        limit.refused(first)
        limit.refused(second)
    assert limit.limit == 4.0


def test_no_more_calls_are_under_way_than_there_are_places() -> None:
    provider = Provider(together=3)
    model = Throttled(provider, AdaptiveLimit(start=3.0, most=3))
    assert len(complete_all(model, [request(str(number)) for number in range(12)], at_once=12)) == 12
    assert provider.most == 3


@pytest.mark.parametrize("kind", ["server", "timeout", "connection", "bad_answer"])
def test_other_failures_leave_the_limit_alone(kind: Any) -> None:
    provider, limit = Provider(), AdaptiveLimit(start=4.0)
    provider.errors = [TransientError("no", kind)]
    with pytest.raises(TransientError):
        Throttled(provider, limit).complete(request("x"))
    assert limit.limit == 4.0
    # Every place is free again: four are taken without waiting, a fifth is not there.
    with ExitStack() as places:
        for _ in range(4):
            places.enter_context(limit.place(0.0))
        with pytest.raises(OutOfTimeError):
            places.enter_context(limit.place(0.0))


def test_a_limit_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="starts at 9 of at most 8"):
        AdaptiveLimit(start=9.0)


def test_answers_come_in_the_order_of_the_requests_and_equal_ones_are_numbered_in_it() -> None:
    asked = [request("a"), request("b"), request("a"), request("a")]
    store = RecordedCalls(Journal(None))
    first = complete_all(Journaled(Provider(), store), asked)
    assert [answer.text for answer in first] == ["a 0", "b 0", "a 1", "a 2"]
    one_by_one = Journaled(Provider(), store)
    assert [one_by_one.complete(item) for item in asked] == first


def test_the_first_failure_in_order_is_raised_and_the_other_answers_are_kept() -> None:
    class Half(Provider):
        def complete(self, request: Request) -> Completion:
            if request.messages[0].text == "b":
                raise LanguageModelError("b failed")
            return super().complete(request)

    store = RecordedCalls(Journal(None))
    with pytest.raises(LanguageModelError, match="b failed"):
        complete_all(Journaled(Half(), store), [request(text) for text in "abc"])
    assert sorted(call.status for call in store.calls()) == ["answered", "answered", "failed"]


def test_calls_that_a_server_refuses_at_first_are_all_answered_once_over_the_wire(server: Any, reply: Any) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    body = {"id": "c", "model": "m", "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    server.replies = [reply(429, {}), reply(429, {}), *(reply(body=body) for _ in range(8))]
    waits: list[float] = []
    model = make(
        "openai:m",
        base_url=f"{server.address}/v1",
        environment={},
        retry=RetryPolicy(jitter=0.0),
        sleep=waits.append,
    )
    answers = complete_all(
        Journaled(model, RecordedCalls(Journal(None))), [request(str(number)) for number in range(8)]
    )
    assert [answer.text for answer in answers] == ["hi"] * 8
    assert len(server.received) == 10
    assert len(waits) == 2
