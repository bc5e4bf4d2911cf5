"""The cap on time is hard: it bounds attempts, the waits between them, the wait for a place, and a spool."""

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cwm.llm.api import BudgetExceededError, LanguageModelError, Message, Request
from cwm.llm.budget import Budget, Budgeted
from cwm.llm.concurrency import AdaptiveLimit, Throttled
from cwm.llm.line import Line
from cwm.llm.providers.factory import make
from cwm.llm.providers.scripted import Scripted
from cwm.llm.providers.spool import Spool
from cwm.llm.requests import request_key, request_to_json
from cwm.llm.retry import OutOfTimeError, Retrying, RetryPolicy, TransientError, lost_calls

REQUEST = Request((Message("user", "Hello"),), "transition", 100)
PLAIN = RetryPolicy(jitter=0.0)


class Clock:
    """Stands still but for what is slept, and for what each attempt takes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def refused() -> TransientError:
    return TransientError("m answered 500 (no).", "server")


def asked_until(deadline: float, clock: Clock, answers: list[Any], attempt_s: float = 0.0) -> LanguageModelError:
    def answer(request: Request) -> Any:
        clock.now += attempt_s
        return answers.pop(0)

    model = Retrying(Scripted(answer), PLAIN, sleep=clock.sleep, clock=clock)
    with pytest.raises(OutOfTimeError) as caught:
        model.complete(Request(REQUEST.messages, "test", deadline=deadline))
    return caught.value


def test_no_wait_between_attempts_passes_the_cap_on_time() -> None:
    clock = Clock()
    error = asked_until(6.0, clock, [refused() for _ in range(6)])
    assert clock.waits == [1.0, 2.0]
    assert str(error) == (
        "m answered 500 (no). The cap on time leaves 3.0 s, and the next attempt would come in 4.0 s: raise the cap "
        "and resume."
    )


def test_a_wait_that_the_server_asks_for_is_not_begun_if_it_passes_the_cap() -> None:
    clock = Clock()
    busy = TransientError("busy.", "rate_limit", retry_after_s=30.0)
    asked_until(20.0, clock, [busy])
    assert clock.waits == []


def test_an_attempt_that_the_cap_ended_is_no_answer_that_came_too_late() -> None:
    clock = Clock()
    late = TransientError("late.", "timeout", maybe_billed=True)
    error = asked_until(5.0, clock, [late], attempt_s=5.0)
    assert str(error) == "late. The cap on time is reached: raise it and resume."
    assert lost_calls(error) == 1


def test_nobody_waits_for_a_place_after_the_cap() -> None:
    limit = AdaptiveLimit(start=1, most=1)
    model = Throttled(Scripted(["never"]), limit)
    with limit.place(), pytest.raises(OutOfTimeError, match="while other calls are under way"):
        model.complete(Request(REQUEST.messages, "test", deadline=time.monotonic() + 0.01))


def test_a_spool_is_not_awaited_past_the_cap(tmp_path: Path) -> None:
    budget = Budget(seconds=0.05)
    with pytest.raises(BudgetExceededError, match=r"The cap on time is reached while .*answers.* is awaited"):
        Budgeted(Spool(tmp_path), budget).complete(REQUEST)
    assert budget.total().calls == 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("spec", ["openai:m-1", "google:m-1"])
def test_the_call_in_flight_ends_with_the_time(spec: str, stream: bool, server: Any, reply: Any) -> None:
    server.replies = [reply(hang_s=30.0)]
    provider = make(spec, base_url=f"{server.address}/v1", line=Line(600.0, stream))
    budget = Budget(seconds=0.4)
    with pytest.raises(OutOfTimeError, match=r"gave no whole answer within 0\.\d+ s\. The cap on time is reached"):
        Budgeted(provider, budget).complete(REQUEST)
    assert len(server.received) == 1
    assert (budget.total().calls, budget.total().lost) == (1, 1)


def test_the_deadline_is_part_of_no_key_and_never_stored() -> None:
    hurried = Request(REQUEST.messages, "transition", 100, deadline=5.0)
    assert hurried == REQUEST
    assert request_key(hurried) == request_key(REQUEST)
    assert json.dumps(request_to_json(hurried)) == json.dumps(request_to_json(REQUEST))


def test_without_a_cap_on_time_the_provider_gets_the_request_as_it_is() -> None:
    script = Scripted(["hi", "hi"])
    Budgeted(script, Budget(calls=9)).complete(REQUEST)
    assert script.requests[0].deadline is None
    Budgeted(script, Budget(seconds=60.0)).complete(REQUEST)
    assert script.requests[1].deadline is not None


def test_a_piece_now_and_then_keeps_an_answer_alive_that_takes_longer_than_the_timeout(server: Any, reply: Any) -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
    choices = [*({"index": 0, "delta": {"content": word}} for word in "abcdef"), {"index": 0, "finish_reason": "stop"}]
    body = "".join(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n" for choice in choices)
    server.replies = [reply(body=body, headers={"Content-Type": "text/event-stream"}, drip_s=0.001)]
    provider = make("openai:m-1", base_url=f"{server.address}/v1", line=Line(0.6, True), retry=RetryPolicy(attempts=1))
    answer = provider.complete(REQUEST)
    assert answer.text == "abcdef"
    assert answer.latency_s > 0.6


def test_every_wait_is_told_in_one_line() -> None:
    told: list[str] = []
    clock = Clock()
    model = Retrying(
        Scripted([TransientError("m answered 429 (Rate limit reached).", "rate_limit", retry_after_s=3.0), "hi"]),
        PLAIN,
        sleep=clock.sleep,
        tell=told.append,
    )
    assert model.complete(REQUEST).text == "hi"
    assert told == ["m answered 429 (Rate limit reached): waiting 3.0 s, then attempt 2 of 6"]


def test_calls_under_way_at_once_never_pass_the_limit_that_was_asked_for(server: Any, reply: Any) -> None:
    server.replies = [reply(500, {"error": {"message": "no"}}, hang_s=0.05) for _ in range(6)]
    most = 0
    answer = server.answer

    def counted(*given: Any) -> None:
        nonlocal most
        with lock:
            under_way.append(1)
            most = max(most, len(under_way))
        answer(*given)
        with lock:
            under_way.pop()

    lock, under_way = threading.Lock(), list[int]()
    server.answer = counted
    line = Line(parallel=1)
    provider = make("openai:m-1", base_url=f"{server.address}/v1", line=line, retry=RetryPolicy(attempts=1))

    def ask() -> None:
        with pytest.raises(LanguageModelError):
            provider.complete(REQUEST)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(server.received)) == (1, 6)
