"""The google-genai client library against a scripted server on the loopback address."""

import logging
import traceback
from typing import Any

import pytest

from cwm.llm.api import ConfigurationError, LanguageModelError, Message, QuotaExhaustedError, Request
from cwm.llm.providers.google import GoogleModel
from cwm.llm.providers.wishes import Wishes
from cwm.llm.retry import TransientError

CANARY = "AIzaCanary0123456789abcdef"
REQUEST = Request(
    (Message("system", "Be brief."), Message("user", "Hello"), Message("assistant", "Yes?"), Message("user", "Go on")),
    "test",
    64,
    temperature=0.5,
    seed=7,
)


def model(server: Any, **options: Any) -> GoogleModel:
    return GoogleModel("g-1", Wishes(CANARY, server.address, **{"timeout_s": 5.0, **options}))


def candidate(reason: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 100},
        "modelVersion": "g-1-2026",
        "responseId": "r-1",
    }


def failure(server: Any, **options: Any) -> LanguageModelError:
    with pytest.raises(LanguageModelError) as caught:
        model(server, **options).complete(REQUEST)
    return caught.value


def refusal(code: int, message: str, *details: dict[str, Any], status: str = "X") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def test_thinking_counts_as_output_and_is_no_part_of_the_answer(server: Any, reply: Any) -> None:
    body = candidate("STOP", {"text": "let me see", "thought": True}, {"text": "h"}, {"text": "i"})
    server.replies = [reply(body=body)]
    answer = model(server).complete(REQUEST)
    assert (answer.text, answer.outcome, answer.model) == ("hi", "ok", "g-1-2026")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.estimated) == (11, 105, False)
    assert (answer.metadata["finish_reason"], answer.metadata["response_id"]) == ("STOP", "r-1")


def test_messages_and_sampling_parameters_reach_the_wire(server: Any, reply: Any) -> None:
    server.replies = [reply(body=candidate("STOP", {"text": "hi"}))]
    model(server).complete(REQUEST)
    received = server.received[0]
    assert received.path.endswith("models/g-1:generateContent")
    assert received.headers["x-goog-api-key"] == CANARY
    assert [(content["role"], content["parts"][0]["text"]) for content in received.body["contents"]] == [
        ("user", "Hello"),
        ("model", "Yes?"),
        ("user", "Go on"),
    ]
    assert received.body["systemInstruction"]["parts"][0]["text"] == "Be brief."
    config = received.body["generationConfig"]
    assert (config["maxOutputTokens"], config["temperature"], config["seed"]) == (64, 0.5, 7)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (candidate("MAX_TOKENS", {"text": "half"}), "truncated"),
        (candidate("MAX_TOKENS"), "truncated"),
        (candidate("OTHER", {"text": "half"}), "truncated"),
        (candidate("OTHER"), "empty"),
        (candidate("SAFETY", {"text": "x"}), "refused"),
        (candidate("RECITATION", {"text": "x"}), "refused"),
        (candidate("BLOCKLIST"), "refused"),
        (candidate("PROHIBITED_CONTENT"), "refused"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "refused"),
        (candidate("STOP"), "empty"),
        (candidate("STOP", {"text": "only a thought", "thought": True}), "empty"),
    ],
)
def test_an_answer_that_is_not_whole_is_never_ok(server: Any, reply: Any, body: Any, outcome: str) -> None:
    server.replies = [reply(body=body)]
    assert model(server).complete(REQUEST).outcome == outcome


def test_the_library_does_not_go_on_by_itself_after_a_cut_answer(server: Any, reply: Any) -> None:
    body = candidate("CONTINUATION", {"text": "half"})
    body["candidates"][0]["continuationToken"] = "bW9yZQ=="
    server.replies = [reply(body=body), reply(body=candidate("STOP", {"text": "rest"}))]
    assert model(server).complete(REQUEST).outcome == "truncated"
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, refusal(400, "bad field"), ["400", "bad field"]),
        (400, refusal(400, "API key not valid.", {"reason": "API_KEY_INVALID"}), ["GEMINI_API_KEY", "401"]),
        (403, refusal(403, "denied"), ["GEMINI_API_KEY", "403"]),
        (404, refusal(404, "no such model"), ["'g-1'", "404"]),
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


def test_a_quota_of_the_day_ends_the_run(server: Any, reply: Any) -> None:
    details = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
    server.replies = [reply(429, refusal(429, "quota", details, status="RESOURCE_EXHAUSTED"))]
    assert isinstance(failure(server), QuotaExhaustedError)


@pytest.mark.parametrize(
    ("status", "headers", "details", "kind", "wait"),
    [
        (429, {}, [{"retryDelay": "34.5s"}], "rate_limit", 34.5),
        (429, {"Retry-After": "7"}, [{"retryDelay": "34s"}], "rate_limit", 7.0),
        (503, {}, [], "server", None),
    ],
)
def test_what_may_pass_is_transient_and_the_library_does_not_retry(
    server: Any, reply: Any, status: int, headers: dict[str, str], details: list[Any], kind: str, wait: float | None
) -> None:
    server.replies = [reply(status, refusal(status, "busy", *details), headers)]
    error = failure(server)
    assert isinstance(error, TransientError)
    assert (error.kind, error.retry_after_s, error.maybe_billed) == (kind, wait, False)
    assert len(server.received) == 1


@pytest.mark.parametrize("body", ["<html>", "{", "[]", "{}", '{"candidates": 3}'])
def test_an_answer_that_is_no_completion_is_said_to_be_so(server: Any, reply: Any, body: str) -> None:
    server.replies = [reply(body=body)]
    error = failure(server)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("bad_answer", True)


def test_a_hanging_server_runs_into_the_time_limit(server: Any, reply: Any) -> None:
    server.replies = [reply(body=candidate("STOP", {"text": "hi"}), hang_s=30.0)]
    error = failure(server, timeout_s=0.2)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("timeout", True)


def test_a_connection_cut_in_the_body_may_have_been_billed(server: Any, reply: Any) -> None:
    server.replies = [reply(body=candidate("STOP", {"text": "hi"}), cut_after=20)]
    error = failure(server)
    assert isinstance(error, TransientError)
    assert (error.kind, error.maybe_billed) == ("connection", True)


def test_a_server_that_is_not_there_is_named(closed_address: str) -> None:
    with pytest.raises(TransientError, match=closed_address) as caught:
        GoogleModel("g-1", Wishes(None, closed_address)).complete(REQUEST)
    assert (caught.value.kind, caught.value.maybe_billed) == ("unreachable", False)


def test_the_key_is_in_no_repr_error_traceback_or_log(
    server: Any, reply: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    server.replies = [reply(status, refusal(status, f"key {CANARY}")) for status in (400, 401, 403, 404, 429, 500)]
    server.replies += [reply(body=CANARY), reply(body="x", cut_after=0)]
    asked = model(server)
    texts = [repr(asked), str(vars(asked))]
    for _ in range(8):
        with pytest.raises(LanguageModelError) as caught:
            asked.complete(REQUEST)
        error = caught.value
        assert error.__context__ is None
        assert error.__traceback__ is not None
        below_this_test = error.__traceback__.tb_next
        texts += [str(error), repr(error), repr(vars(error))]
        texts += traceback.StackSummary.extract(traceback.walk_tb(below_this_test), capture_locals=True).format()
    texts += [caplog.text, *capfd.readouterr()]
    assert len(server.received) == 8
    assert [text for text in texts if CANARY in text] == []
