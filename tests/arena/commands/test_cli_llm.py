import json
from pathlib import Path
from typing import Any

import pytest

from arena.machine import own_source
from cwm.llm import recordings
from cwm.llm.api import Completion, Message, Request
from cwm.llm.recordings import Header, Record
from cwm.llm.requests import request_key
from cwm.quality.similarity import tokens


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
    words += ["--further-games", 0]
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


def test_show_lists_the_calls_of_a_recording_and_shows_one(cwm: Any, refused: Any) -> None:
    records = recordings.load("leduc_poker").records
    first, last = records[0], len(records)
    calls = cwm("llm", "show", "leduc_poker", "--json").json
    assert [call["purpose"] for call in calls] == [record.request.purpose for record in records]
    assert [calls[0][name] for name in ("number", "ended", "messages", "characters_out")] == [
        *(1, "ok", 1, len(first.completion.text))
    ]
    shown = cwm("llm", "show", "leduc_poker")
    assert f"{calls[0]['characters_in']:,}" in shown.out
    one = cwm("llm", "show", "leduc_poker", 1)
    assert first.request.messages[0].text in one.out
    assert one.out.rstrip().endswith(first.completion.text.rstrip())
    whole = cwm("llm", "show", "leduc_poker", 1, "--json").json
    assert whole["answer"] == first.completion.text
    assert whole["request"]["messages"][0]["text"] == first.request.messages[0].text
    assert f"has no call {last + 1}, its last is {last}" in refused("llm", "show", "leduc_poker", last + 1).err


def test_show_reads_a_file_and_the_folder_of_a_run(cwm: Any, refused: Any, right_model: str, tmp_path: Path) -> None:
    recording, run = tmp_path / "recording.jsonl", tmp_path / "run"
    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", 0, "--workers", 1]
    words += ["--further-games", 0]
    assert cwm(*words, "--run", run, "--record", recording).code == 0
    found = [cwm("llm", "show", place, 1, "--json").json for place in (recording, run)]
    assert found[0]["answer"] == found[1]["answer"]
    assert found[0]["request"]["messages"] == found[1]["request"]["messages"]
    assert len(cwm("llm", "show", run, "--json").json) == 1
    ran = refused("llm", "show", tmp_path)
    assert (ran.code, "holds no calls of a language model" in ran.err) == (2, True)
    assert "There is no recording 'nope'" in refused("llm", "show", "nope").err


def test_show_lets_no_recorded_text_rule_the_terminal(cwm: Any, tmp_path: Path) -> None:
    request = Request((Message("user", "clear\x1b[2J"),), "ask")
    completion = Completion("ok\x9b\x07\tdone", "ok", "m\x1b")
    lines = Header("g").line(), Record(request_key(request), 0, request, completion, "").line()
    (tmp_path / "r.jsonl").write_text("\n".join(line.strip() for line in lines) + "\n")
    for words in ((), (1,)):
        out = cwm("llm", "show", tmp_path / "r.jsonl", *words).out
        assert not {letter for letter in out if ord(letter) < 32 or 127 <= ord(letter) < 160} - {"\n", "\t"}
    assert cwm("llm", "show", tmp_path / "r.jsonl", 1, "--json").json["answer"] == completion.text


def test_shared_tells_what_a_program_has_of_our_source_and_what_its_prompt_holds(cwm: Any, tmp_path: Path) -> None:
    name = "cwm/interface/answers.py"
    copied = (own_source.ROOT / name).read_text()
    for shown, outside in ((copied, 0), ("Write it.", len(tokens(copied)))):
        request = Request((Message("user", shown),), "transition")
        completion = Completion(f"```python\n{copied}```\n", "ok", "m")
        lines = Header("g").line(), Record(request_key(request), 0, request, completion, "").line()
        (tmp_path / "r.jsonl").write_text("\n".join(line.strip() for line in lines) + "\n")
        (found,) = cwm("llm", "shared", tmp_path / "r.jsonl", "--json").json
        assert (found["shared"]["file"], found["shared"]["length"]) == (name, len(tokens(copied)))
        assert (found["outside"]["length"], found["others"]) == (outside, None)
    assert f"{name}, line 1" in cwm("llm", "shared", tmp_path / "r.jsonl").out
