"""From PROVIDER:MODEL to a model, and one clear sentence for everything that cannot be one."""

from pathlib import Path
from typing import Any

import pytest

from cwm.llm.api import ConfigurationError, LanguageModelError, Message, Request
from cwm.llm.budget import FREE, Price
from cwm.llm.providers.factory import make, price_of
from cwm.llm.providers.scripted import Scripted, load_script
from cwm.llm.recorder import Recorder

REQUEST = Request((Message("user", "Hello"),), "test", 100)


@pytest.mark.parametrize(
    ("spec", "options", "words"),
    [
        ("chatty:m-1", {}, "Unknown language model 'chatty:m-1': write one of openai:MODEL, google:MODEL"),
        ("gpt", {}, "Unknown language model 'gpt'"),
        ("openai:", {}, "'openai:' lacks what comes after the colon: write openai:MODEL"),
        ("openai:m-1", {}, "No key for openai:m-1: set OPENAI_API_KEY, or give the option `base_url`"),
        ("google:g-1", {}, "No key for google:g-1: set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("openai:m-1", {"base_url": "localhost:8000"}, "The base URL is no web address"),
        ("replay:nowhere", {"base_url": "http://localhost"}, "takes no base URL"),
        ("replay:nowhere", {}, "There is no recording 'nowhere'"),
        ("replay:no/such.jsonl", {}, "The recording no/such.jsonl cannot be read"),
        ("scripted:no/such.jsonl", {}, "The script no/such.jsonl cannot be read"),
    ],
)
def test_what_cannot_be_a_model_is_said_in_a_sentence(spec: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make(spec, environment={}, **options)
    assert words in str(caught.value)


def test_a_password_in_a_malformed_address_is_not_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        make("openai:m-1", base_url="ftp://me:canary@host/v1?key=canary", environment={})
    assert "canary" not in str(caught.value)


def test_a_server_that_is_not_there_is_named_before_long(closed_address: str) -> None:
    waits: list[float] = []
    model = make("openai:m-1", base_url=f"{closed_address}/v1", environment={}, sleep=waits.append)
    with pytest.raises(ConfigurationError, match=f"No connection to {closed_address}/v1 for openai:m-1"):
        model.complete(REQUEST)
    assert len(waits) == 2


def test_a_key_is_not_needed_where_there_is_an_address(server: Any, reply: Any) -> None:
    body = {"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]}
    server.replies = [reply(429, {}, {"Retry-After": "9"}), reply(body=body), reply(body=body)]
    waits: list[float] = []
    model = make("openai:local:8b", base_url=f"{server.address}/v1", environment={}, sleep=waits.append)
    assert model.complete(REQUEST).text == "hi"
    assert model.name == "openai:local:8b"
    assert server.received[0].body["model"] == "local:8b"
    assert waits == [9.0]
    by_variable = make("openai:m-1", environment={"OPENAI_BASE_URL": f"{server.address}/v1"})
    assert by_variable.complete(REQUEST).text == "hi"


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_either_variable_holds_the_key_of_google(server: Any, reply: Any, variable: str) -> None:
    body = {"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}
    server.replies = [reply(503, {}), reply(body=body)]
    waits: list[float] = []
    model = make("google:g-1", base_url=server.address, environment={variable: "k-1"}, sleep=waits.append)
    assert (model.name, model.complete(REQUEST).text, len(waits)) == ("google:g-1", "hi", 1)
    assert server.received[1].headers["x-goog-api-key"] == "k-1"


def test_files_are_models(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('"a"\n\n{"text": "b", "outcome": "truncated", "model": "m-1"}\n""\n')
    model = make(f"scripted:{script}")
    assert [(done.text, done.outcome) for done in (model.complete(REQUEST) for _ in range(3))] == [
        ("a", "ok"),
        ("b", "truncated"),
        ("", "empty"),
    ]
    with pytest.raises(LanguageModelError, match="has 3 answers and call 4"):
        model.complete(REQUEST)
    assert make(f"scripted:{script}", scripted_start=1).complete(REQUEST).text == "b"
    recording = tmp_path / "run.jsonl"
    Recorder(Scripted(["c"]), recording).complete(REQUEST)
    assert make(f"replay:{recording}").complete(REQUEST).text == "c"
    assert make(f"spool:{tmp_path / 'spool'}").name == f"spool:{tmp_path / 'spool'}"


@pytest.mark.parametrize("line", ["{", "3", '{"outcome": "ok"}', '{"text": "x", "outcome": "fine"}'])
def test_a_script_line_that_is_no_answer_is_named(tmp_path: Path, line: str) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(f'"a"\n{line}\n')
    with pytest.raises(ConfigurationError, match="Line 2 of"):
        load_script(script)


def test_prices_are_what_the_user_says_nothing_or_unknown() -> None:
    assert price_of("openai:m-1", 1.0, 2.0) == Price(1.0, 2.0)
    assert price_of("openai:m-1") is None
    assert price_of("spool:here") is None
    assert price_of("replay:x") == FREE
    for prices in ((1.0, None), (None, 1.0), (-1.0, 1.0), (float("nan"), 1.0)):
        with pytest.raises(ConfigurationError, match="price"):
            price_of("openai:m-1", *prices)
