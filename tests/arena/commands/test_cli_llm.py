import json
from pathlib import Path
from typing import Any

import pytest

from cwm.llm import recordings


def test_list_names_every_shipped_recording(cwm: Any) -> None:
    assert [item["name"] for item in cwm("llm", "list", "--json").json] == recordings.bundled_names()
    assert cwm("llm", "list").code == 0


def test_ask_prints_the_answer_alone_on_stdout(cwm: Any, tmp_path: Path) -> None:
    (tmp_path / "script.jsonl").write_text('"Forty-two [sic] :m:"\n')
    ran = cwm("llm", "ask", f"scripted:{tmp_path / 'script.jsonl'}", "What is it?")
    assert (ran.code, ran.out) == (0, "Forty-two [sic] :m:\n")
    data = cwm("llm", "ask", f"scripted:{tmp_path / 'script.jsonl'}", "What is it?", "--json").json
    assert (data["text"], data["outcome"]) == ("Forty-two [sic] :m:", "ok")


def test_an_answer_that_is_not_whole_exits_with_1(cwm: Any, tmp_path: Path) -> None:
    (tmp_path / "script.jsonl").write_text(json.dumps({"text": "Forty-", "outcome": "truncated"}) + "\n")
    ran = cwm("llm", "ask", f"scripted:{tmp_path / 'script.jsonl'}", "What is it?")
    assert (ran.code, ran.out) == (1, "Forty-\n")


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("nope", "Unknown language model 'nope'"),
        ("openai:m", "No key for openai:m: set OPENAI_API_KEY"),
        ("replay:nope", "There is no recording 'nope'"),
        ("scripted:nope", "The script nope cannot be read"),
    ],
)
def test_a_model_that_cannot_be_asked_is_named(refused: Any, model: str, named: str) -> None:
    ran = refused("llm", "ask", model, "Hello?")
    assert ran.code == 3
    assert named in ran.err


def test_explain_says_where_the_nearest_recorded_request_differs(cwm: Any, right_model: str, tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"
    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", 0, "--workers", 1]
    assert cwm(*words, "--run", tmp_path / "run", "--record", recording).code == 0
    prompt = cwm("synthesize", "tic_tac_toe", "--llm", right_model, "--dry-run", "--json").json["prompt"]
    asked = tmp_path / "request.json"
    request = {
        "messages": [{"role": "user", "text": prompt}],
        "max_output_tokens": 32_768,
        "temperature": None,
        "seed": None,
        "purpose": "transition",
    }
    asked.write_text(json.dumps(request))
    ran = cwm("llm", "explain", recording, asked)
    assert (ran.code, ran.out.startswith("recorded: ok, ")) == (0, True)
    asked.write_text(json.dumps(request | {"max_output_tokens": 99}))
    ran = cwm("llm", "explain", recording, asked)
    assert ran.code == 1
    assert "asked:    max_output_tokens: 99" in ran.out


def test_explain_refuses_what_is_no_request(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}")
    for name in ("empty.json", "missing.json", "."):
        ran = refused("llm", "explain", recordings.bundled_names()[0], tmp_path / name)
        assert ran.code == 2
        assert "is no request" in ran.err
