"""Anthropic's client library against a scripted server; `test_wire.py` has all ways in which answers end or fail."""

import sys
from typing import Any

import pytest

from cwm.llm.api import ConfigurationError, LanguageModelError, Message, QuotaExhaustedError, Request
from cwm.llm.line import headers_of
from cwm.llm.providers.anthropic import AnthropicModel
from cwm.llm.providers.factory import make
from cwm.llm.providers.wishes import Wishes
from cwm.llm.retry import TransientError

CANARY = "sk-ant-canary-0123456789"
REQUEST = Request((Message("system", "Be brief."), Message("user", "Hello")), "test", 64, temperature=0.5, seed=7)


def model(server: Any, **options: Any) -> AnthropicModel:
    pytest.importorskip("anthropic")
    return AnthropicModel("m-1", Wishes(CANARY, server.address, **{"timeout_s": 5.0, **options}))


def answered(usage: dict[str, int] | None = None) -> dict[str, Any]:
    return {
        "id": "c-1",
        "type": "message",
        "role": "assistant",
        "model": "m-1-2026",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 7, "output_tokens": 3} if usage is None else usage,
    }


def failure(server: Any, **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        model(server, **options).complete(REQUEST)
    return caught.value


def test_without_the_library_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'code-world-models\[anthropic\]'"):
        make("anthropic:m-1", environment={"ANTHROPIC_API_KEY": CANARY})


def test_without_a_key_the_variable_is_named() -> None:
    with pytest.raises(ConfigurationError, match="No key for anthropic:m-1: set ANTHROPIC_API_KEY"):
        make("anthropic:m-1", environment={})


@pytest.mark.extra("anthropic")
def test_question_key_and_parameters_reach_the_wire(server: Any, reply: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-ant-of-another-server")
    server.replies = [reply(body=answered())]
    eager = Request(REQUEST.messages, "test", 64, temperature=0.5, seed=7, reasoning_effort="low")
    answer = model(server, headers=headers_of(["X-Team=chess"])).complete(eager)
    received = server.received[0]
    assert (received.path, received.headers["x-team"]) == ("/v1/messages", "chess")
    # Which header holds the key is the library's affair: it has changed.
    sent = [received.headers.get(name, "") for name in ("x-api-key", "authorization")]
    assert [value.removeprefix("Bearer ") for value in sent if value] == [CANARY]
    assert received.body == {
        "model": "m-1",
        "max_tokens": 64,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.5,
        "output_config": {"effort": "low"},
    }
    assert (answer.text, answer.outcome, answer.model) == ("hi", "ok", "m-1-2026")
    assert answer.metadata["finish_reason"] == "end_turn"


@pytest.mark.extra("anthropic")
def test_parameters_that_are_not_set_are_not_sent(server: Any, reply: Any) -> None:
    server.replies = [reply(body=answered())]
    model(server).complete(Request((Message("user", "\ud800x"),), "test", 64))
    assert server.received[0].body == {
        "model": "m-1",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "?x"}],
    }


@pytest.mark.extra("anthropic")
def test_tokens_of_a_cached_prompt_are_counted_and_without_a_count_they_are_estimated(server: Any, reply: Any) -> None:
    cached = {"input_tokens": 7, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 3}
    server.replies = [reply(body=answered(cached)), reply(body=answered({}))]
    counted, estimated = (model(server).complete(REQUEST).usage for _ in range(2))
    assert (counted.input_tokens, counted.output_tokens, counted.estimated) == (117, 3, False)
    assert estimated.estimated


@pytest.mark.extra("anthropic")
@pytest.mark.parametrize(
    ("status", "kind", "message", "error"),
    [
        (400, "invalid_request_error", "Your credit balance is too low", QuotaExhaustedError),
        (401, "authentication_error", f"invalid x-api-key {CANARY}", ConfigurationError),
        (404, "not_found_error", "model: m-1", ConfigurationError),
        (529, "overloaded_error", "Overloaded", TransientError),
    ],
)
def test_refusals_are_what_they_mean_and_never_name_the_key(
    status: int, kind: str, message: str, error: type[LanguageModelError], server: Any, reply: Any
) -> None:
    server.replies = [reply(status, {"type": "error", "error": {"type": kind, "message": message}})]
    found = failure(server)
    assert type(found) is error
    assert CANARY not in str(found)


@pytest.mark.extra("anthropic")
def test_an_overload_that_is_told_within_a_stream_is_asked_again(server: Any, reply: Any) -> None:
    event = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    server.replies = [reply(body=event, headers={"Content-Type": "text/event-stream"})]
    found = failure(server, stream=True)
    assert isinstance(found, TransientError)
    assert "529" in str(found)
