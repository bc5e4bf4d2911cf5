"""The whole stack over the loopback: journal around recorder around budget around retries around a client library."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from cwm.llm.api import Message, Request
from cwm.llm.budget import Budget, Budgeted, Price
from cwm.llm.journaled import Journaled
from cwm.llm.providers.factory import make
from cwm.llm.recorder import Recorder
from cwm.record.calls import RecordedCalls
from cwm.storage.journal import Journal

CANARY = "sk-canary-0123456789abcdef"


def request(text: str) -> Request:
    return Request((Message("user", text),), "transition", 100)


def completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "c-1", "model": "m-1-2026", "choices": [choice], "usage": usage}


def test_a_run_over_the_wire_is_paid_once_recorded_and_replayed_and_no_key_is_left_behind(
    server: Any, reply: Any, tmp_path: Path
) -> None:
    server.replies = [reply(500, {}), reply(body=completion("a")), reply(429, {}), reply(body=completion("b"))]
    store, path, waits = RecordedCalls(Journal(None)), tmp_path / "run.jsonl", list[float]()

    def stack(budget: Budget) -> Journaled:
        environment = {"OPENAI_API_KEY": CANARY}
        model = make("openai:m-1", base_url=f"{server.address}/v1", environment=environment, sleep=waits.append)
        return Journaled(Recorder(Budgeted(model, budget, Price(1.0, 2.0)), path, game="nim"), store)

    first = Budget(money=1.0)
    asked = stack(first)
    answers = [asked.complete(request("x")), asked.complete(request("x"))]
    assert [answer.text for answer in answers] == ["a", "b"]
    assert (len(server.received), len(waits)) == (4, 2)
    assert (first.total().calls, first.total().money) == (2, pytest.approx(4e-5, abs=1e-15))

    second = Budget(money=1.0)
    second.restore_from(store.calls(), {"openai:m-1": Price(1.0, 2.0)})
    resumed = stack(second)
    assert [resumed.complete(request("x")), resumed.complete(request("x"))] == answers
    assert len(server.received) == 4
    assert second.total() == first.total()

    replayed = make(f"replay:{path}")
    assert [replayed.complete(request("x")).text for _ in range(2)] == ["a", "b"]
    left_behind = path.read_text() + repr(list(store.calls())) + repr(asked) + str(first.by_purpose())
    assert CANARY not in left_behind


def test_calls_at_the_same_time_get_each_their_own_answer(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion("same"), hang_s=0.05) for _ in range(8)]
    model = Journaled(make("openai:m-1", base_url=f"{server.address}/v1", environment={}), RecordedCalls(Journal(None)))
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda n=number: texts.append(model.complete(request(str(n))).text))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert texts == ["same"] * 8
    assert sorted(received.body["messages"][0]["content"] for received in server.received) == list("01234567")


def test_a_replay_loads_no_client_library() -> None:
    code = "import sys, cwm.llm.providers.factory; print([m for m in ('openai', 'google.genai') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
