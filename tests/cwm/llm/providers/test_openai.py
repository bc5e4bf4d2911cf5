"""The openai client library against a scripted server on the loopback address."""

import json
import logging
import traceback
from typing import Any

import pytest

from cwm.llm.api import ConfigurationError, LanguageModelError, Message, QuotaExhaustedError, Request
from cwm.llm.providers.openai import OpenAIModel
from cwm.llm.providers.wishes import Wishes
from cwm.llm.retry import TransientError

CANARY = "sk-canary-0123456789abcdef"
REQUEST = Request((Message("system", "Be brief."), Message("user", "Hello")), "test", 64, temperature=0.5, seed=7)


def model(server: Any, **options: Any) -> OpenAIModel:
    return OpenAIModel("m-1", Wishes(CANARY, f"{server.address}/v1", **{"timeout_s": 5.0, **options}))


def completion(text: str | None = "hi", reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1-2026",
        "choices": [
            {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }


def failure(server: Any, **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        model(server, **options).complete(REQUEST)
    return caught.value


def test_a_good_answer_brings_text_model_tokens_and_date(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion())]
    answer = model(server).complete(REQUEST)
    assert (answer.text, answer.outcome, answer.model) == ("hi", "ok", "m-1-2026")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.estimated) == (11, 5, False)
    assert answer.metadata["finish_reason"] == "stop"
    assert answer.metadata["response_id"] == "c-1"
    assert answer.metadata["date"].startswith("20")


def test_sampling_parameters_reach_the_wire(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion())]
    model(server).complete(REQUEST)
    received = server.received[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {CANARY}"
    assert received.body == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "max_completion_tokens": 64,
        "temperature": 0.5,
        "seed": 7,
    }


def test_parameters_that_are_not_set_are_not_sent(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion())]
    model(server).complete(Request((Message("user", "\ud800x"),), "test", 64))
    assert sorted(server.received[0].body) == ["max_completion_tokens", "messages", "model"]
    assert server.received[0].body["messages"][0]["content"] == "?x"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (completion("half", "length"), "truncated"),
        (completion("", "length"), "truncated"),
        (completion("x", None), "truncated"),
        (completion("x", "never_heard_of"), "truncated"),
        (completion("x", "content_filter"), "refused"),
        (completion(None, "stop", refusal="I cannot."), "refused"),
        (completion(None, "stop"), "empty"),
        (completion(" \n", "stop"), "empty"),
    ],
)
def test_an_answer_that_is_not_whole_is_never_ok(server: Any, reply: Any, answer: Any, outcome: str) -> None:
    server.replies = [reply(body=answer)]
    assert model(server).complete(REQUEST).outcome == outcome


def test_tokens_are_estimated_where_the_server_does_not_count(server: Any, reply: Any) -> None:
    server.replies = [reply(body={**completion(), "usage": None})]
    usage = model(server).complete(REQUEST).usage
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (3 + 4 + 2 + 4, 1, True)


def test_a_server_that_knows_only_the_old_cap_is_asked_with_it_and_then_always(server: Any, reply: Any) -> None:
    refusal = {"error": {"message": "Unrecognized request argument supplied: max_completion_tokens"}}
    server.replies = [reply(400, refusal), reply(body=completion()), reply(body=completion())]
    asked = model(server)
    asked.complete(REQUEST)
    asked.complete(REQUEST)
    caps = [[name for name in received.body if name.startswith("max")] for received in server.received]
    assert caps == [["max_completion_tokens"], ["max_tokens"], ["max_tokens"]]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, {"error": {"message": "context too long"}}, ["openai:m-1", "400", "context too long"]),
        (401, {"error": {"message": f"Incorrect API key provided: {CANARY}"}}, ["OPENAI_API_KEY", "401"]),
        (403, {"error": {"message": f"key={CANARY} has no access"}}, ["OPENAI_API_KEY", "403", "[key]"]),
        (404, {"error": {"message": "no such model"}}, ["'m-1'", "404", "/v1"]),
    ],
)
def test_a_wrong_setting_ends_the_call_with_one_sentence(
    server: Any, reply: Any, status: int, body: Any, words: list[str]
) -> None:
    server.replies = [reply(status, body)]
    error = failure(server)
    assert isinstance(error, ConfigurationError)
    assert all(word in str(error) for word in [*words, server.address])
    assert len(server.received) == 1


def test_an_empty_account_is_no_rate_limit(server: Any, reply: Any) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    server.replies = [reply(429, body, {"Retry-After": "20"})]
    assert isinstance(failure(server), QuotaExhaustedError)


@pytest.mark.parametrize(
    ("status", "headers", "kind", "wait"),
    [
        (429, {"Retry-After": "20"}, "rate_limit", 20.0),
        (429, {"retry-after-ms": "1500"}, "rate_limit", 1.5),
        (429, {}, "rate_limit", None),
        (500, {}, "server", None),
        (503, {"Retry-After": "3"}, "server", 3.0),
    ],
)
def test_what_may_pass_is_transient_and_the_library_does_not_retry(
    server: Any, reply: Any, status: int, headers: dict[str, str], kind: str, wait: float | None
) -> None:
    server.replies = [reply(status, {"error": {"message": "busy"}}, headers)]
    error = failure(server)
    assert isinstance(error, TransientError)
    assert (error.kind, error.retry_after_s, error.maybe_billed) == (kind, wait, False)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "body",
    ["<html>gateway</html>", "{", "[]", '{"choices": []}', '{"choices": 3}', '{"choices": [3]}', '{"error": "busy"}'],
)
def test_an_answer_that_is_no_completion_is_said_to_be_so(server: Any, reply: Any, body: str) -> None:
    server.replies = [reply(body=body)]
    error = failure(server)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("bad_answer", True)


def test_a_hanging_server_runs_into_the_time_limit(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion(), hang_s=30.0)]
    error = failure(server, timeout_s=0.2)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("timeout", True)


def test_a_server_that_drips_bytes_runs_into_the_time_limit(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion(), drip_s=0.02)]
    error = failure(server, timeout_s=0.5)
    assert isinstance(error, TransientError)
    assert error.kind == "timeout"


def test_a_connection_cut_in_the_body_may_have_been_billed(server: Any, reply: Any) -> None:
    server.replies = [reply(body=completion(), cut_after=20)]
    error = failure(server)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("connection", True)


def test_a_server_that_is_not_there_is_named(closed_address: str) -> None:
    with pytest.raises(TransientError, match=closed_address) as caught:
        OpenAIModel("m-1", Wishes(None, f"{closed_address}/v1")).complete(REQUEST)
    assert (caught.value.kind, caught.value.maybe_billed) == ("unreachable", False)


def pieces(*choices: dict[str, Any], done: bool = True) -> str:
    chunks: list[dict[str, Any]] = [
        {"id": "c-2", "object": "chat.completion.chunk", "created": 1, "model": "m-1-2026", "choices": [choice]}
        for choice in choices
    ]
    if done:
        chunks.append({**chunks[0], "choices": [], "usage": completion()["usage"]})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join(lines) + ("data: [DONE]\n\n" if done else "")


def test_a_stream_is_joined(server: Any, reply: Any) -> None:
    body = pieces(
        {"index": 0, "delta": {"content": "h"}},
        {"index": 0, "delta": {"content": "i"}},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    )
    server.replies = [reply(body=body, headers={"Content-Type": "text/event-stream"})]
    answer = model(server, stream=True).complete(REQUEST)
    assert (answer.text, answer.outcome, answer.usage.output_tokens) == ("hi", "ok", 5)
    assert server.received[0].body["stream"] is True


def test_a_stream_that_ends_early_is_no_answer(server: Any, reply: Any) -> None:
    body = pieces({"index": 0, "delta": {"content": "h"}}, done=False)
    server.replies = [reply(body=body, headers={"Content-Type": "text/event-stream"})]
    error = failure(server, stream=True)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("connection", True)


def test_the_key_is_in_no_repr_error_traceback_or_log(
    server: Any, reply: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    said = {"error": {"message": f"wrong key {CANARY}, Bearer {CANARY}, sk-canar***cdef", "code": CANARY}}
    server.replies = [reply(status, said) for status in (400, 401, 402, 403, 404, 418, 429, 500)]
    server.replies += [reply(body=f"{CANARY}"), reply(body={"error": CANARY}), reply(body="x", cut_after=0)]
    asked = model(server)
    texts = [repr(asked), str(vars(asked))]
    for _ in range(11):
        with pytest.raises(LanguageModelError) as caught:
            asked.complete(REQUEST)
        error = caught.value
        assert error.__context__ is None
        texts += [str(error), repr(error), repr(vars(error))]
        assert error.__traceback__ is not None
        below_this_test = error.__traceback__.tb_next
        texts += traceback.StackSummary.extract(traceback.walk_tb(below_this_test), capture_locals=True).format()
    texts += [caplog.text, *capfd.readouterr()]
    assert len(server.received) == 11
    assert [text for text in texts if CANARY in text or "canar***" in text] == []
