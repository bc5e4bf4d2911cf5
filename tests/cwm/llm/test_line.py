"""How servers are asked: what is sent, what is part of a key, and what is never shown."""

import json
import pickle
from typing import Any

import pytest

from cwm.llm.api import ConfigurationError, LanguageModelError, Message, Request
from cwm.llm.caps import Caps
from cwm.llm.line import AskedWith, Line, effort_of, headers_of
from cwm.llm.providers.factory import make
from cwm.llm.providers.scripted import Scripted
from cwm.llm.requests import request_from_json, request_key, request_to_json

REQUEST = Request((Message("user", "Hello"),), "test", 64, temperature=0.5, seed=7)
TOKEN = "team-secret-4711"
GOLDEN = "e9327d61d4938ade52da1c9a40d1b635c2e87a43fe54d690e18d6bd85a2c6b85"


def test_the_key_of_a_request_without_an_effort_is_what_it_was() -> None:
    assert request_key(REQUEST) == GOLDEN
    assert "reasoning_effort" not in request_to_json(REQUEST)


def test_an_effort_makes_another_key_and_is_read_back() -> None:
    eager = Request(REQUEST.messages, "test", 64, temperature=0.5, seed=7, reasoning_effort="high")
    assert request_key(eager) != request_key(REQUEST)
    assert request_from_json(request_to_json(eager)) == eager


@pytest.mark.parametrize(
    ("spec", "stream", "sent"),
    [
        ("openai:m-1", False, {"reasoning_effort": "low"}),
        ("google:m-1", False, {"thinking_level": "LOW"}),
        ("google:m-1", True, {"thinking_level": "LOW"}),
    ],
)
def test_effort_and_headers_reach_the_wire_and_a_header_is_never_shown(
    spec: str, stream: bool, sent: dict[str, str], server: Any, reply: Any
) -> None:
    server.replies = [reply(400, {"error": {"message": f"no {TOKEN}", "code": 400, "status": "X"}})]
    line = Line(stream=stream, headers=headers_of([f"X-Team={TOKEN}"]))
    provider = make(spec, base_url=f"{server.address}/v1", line=line)
    with pytest.raises(ConfigurationError) as caught:
        provider.complete(Request(REQUEST.messages, "test", 64, reasoning_effort="low"))
    received = server.received[0]
    assert received.headers["x-team"] == TOKEN
    assert "no [key]" in str(caught.value)
    body = received.body.get("generationConfig", {}).get("thinkingConfig", received.body)
    assert sent.items() <= body.items()
    assert TOKEN not in repr(line) + repr(provider.__dict__)


def test_secrets_do_not_leave_the_process() -> None:
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(headers_of([f"A={TOKEN}"]))
    caps = Caps(calls=3, line=Line(headers=headers_of([f"A={TOKEN}"])))
    assert TOKEN not in json.dumps(caps.to_json())
    assert Caps.from_json(caps.to_json()) == Caps(calls=3)


@pytest.mark.parametrize("given", ["no-mark", "two words=x", f"={TOKEN}", f"A={TOKEN}\r\nB=1", f"A={TOKEN}ü"])
def test_what_is_no_header_is_refused_without_its_value(given: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        headers_of([given])
    assert TOKEN not in str(caught.value)


def test_an_effort_is_one_small_word() -> None:
    assert effort_of("xhigh") == "xhigh"
    with pytest.raises(ConfigurationError, match="'Very High' is no word of small letters"):
        effort_of("Very High")


def test_an_unknown_effort_is_the_users_mistake_wherever_it_is_found(server: Any) -> None:
    provider = make("google:m-1", base_url=server.address)
    with pytest.raises(ConfigurationError, match="'eager'"):
        provider.complete(Request(REQUEST.messages, "test", 64, reasoning_effort="eager"))
    assert server.received == []


def test_a_temperature_of_the_request_itself_stands() -> None:
    script = Scripted(["a", "b"])
    model = AskedWith(script, 0.9, "low")
    model.complete(REQUEST)
    model.complete(Request(REQUEST.messages, "test", 64))
    asked = [(request.temperature, request.reasoning_effort) for request in script.requests]
    assert (model.name, asked) == (script.name, [(0.5, "low"), (0.9, "low")])


def test_long_answers_come_in_pieces_and_short_ones_do_not(server: Any, reply: Any) -> None:
    wanted = {4096: False, 4097: True}
    for tokens in (4096, 4097):
        server.replies = [reply(400, {"error": {"message": "no"}})]
        with pytest.raises(LanguageModelError):
            make("openai:m-1", base_url=server.address).complete(Request(REQUEST.messages, "test", tokens))
        assert server.received[-1].body.get("stream", False) is wanted[tokens]


def test_a_server_that_gives_no_pieces_is_asked_for_the_whole(server: Any, reply: Any) -> None:
    whole = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    }
    server.replies = [reply(400, {"error": {"message": "stream_options is unknown"}}), *[reply(body=whole)] * 3]
    provider = make("openai:m-1", base_url=server.address)
    for _ in range(2):
        assert provider.complete(Request(REQUEST.messages, "test", 9999)).text == "hi"
    assert [bool(received.body.get("stream")) for received in server.received] == [True, False, False]
    # One that passes over the wish for pieces is understood, too.
    demanded = make("openai:m-1", base_url=server.address, line=Line(stream=True))
    assert demanded.complete(REQUEST).text == "hi"
