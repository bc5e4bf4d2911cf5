"""What a server of language models may do, each through the command line: a sentence, the exit code, no key shown."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline import speed
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record
from arena.runs.settings import RunSettings
from cwm.llm.caps import ELAPSED_FILE, Caps
from cwm.llm.providers import factory
from cwm.speed.task import SpeedConfig
from tests.cwm.llm.conftest import Reply, Server

CANARY = "sk-canary-0123456789abcdef"
WHOLE = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m-1"}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def answer(text: str | None, end: str = "stop", usage: dict[str, int] | None = USAGE, **wire: Any) -> Reply:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": end, "message": message}
    return Reply(body={**WHOLE, "choices": [choice], **({"usage": usage} if usage else {})}, **wire)


def failure(status: int, message: str = f"no: {CANARY}", code: str = "x", **headers: str) -> Reply:
    return Reply(status, {"error": {"message": message, "code": code}}, headers)


def program(source: str) -> str:
    return f"```python\n{source}\n```"


HOSTILE = program("import os\nos.system('touch /tmp/never')")


@dataclass(frozen=True)
class Case:
    """What a server does.

    Attributes:
        replies: given in turn, the last one for ever; each is given the right program.
        code: exit code of `cwm synthesize`.
        said: on stderr, or on stdout.
        waits: seconds waited between attempts; None where only their number of calls counts.
        calls: requests that reached the server.
    """

    replies: tuple[Callable[[str], Reply], ...]
    code: int
    said: tuple[str, ...]
    calls: int
    waits: int = 0


FOR_EVER = ("Given up after 6 attempts: go on later", "then attempt 2 of 6", "cwm resume")
NO_PROGRAM = ("5 answers in a row held no program", "no answer held a program")
CASES = {
    "401": Case((lambda p: failure(401),), 3, ("did not accept the key in OPENAI_API_KEY (401)",), 1),
    "404": Case((lambda p: failure(404),), 3, ("knows no model 'm-1'", "often ends in /v1"), 1),
    "400": Case((lambda p: failure(400),), 3, ("did not accept the request (400: no: [key])",), 1),
    "quota": Case((lambda p: failure(429, code="insufficient_quota"),), 3, ("has no quota left",), 1),
    "429 twice": Case(
        (lambda p: failure(429, **{"Retry-After": "3"}),) * 2 + (lambda p: answer(p),),
        0,
        ("answered 429 (no: [key]): waiting 3.0 s, then attempt 2 of 6", "then attempt 3 of 6"),
        3,
        2,
    ),
    "429 for ever": Case((lambda p: failure(429),), 3, FOR_EVER, 6, 5),
    "500 for ever": Case((lambda p: failure(500),), 3, FOR_EVER, 6, 5),
    "broken JSON": Case((lambda p: Reply(body='{"choices": [{]'),), 3, FOR_EVER, 6, 5),
    "HTML": Case(
        (lambda p: Reply(body="<html>gateway</html>"),), 3, (*FOR_EVER, "no completion (<html>gateway</html>)"), 6, 5
    ),
    "no choices": Case((lambda p: Reply(body={**WHOLE, "choices": []}),), 3, (*FOR_EVER, '"choices": []'), 6, 5),
    "dropped": Case((lambda p: answer(p, cut_after=20),), 3, (*FOR_EVER, "broke off"), 6, 5),
    "Retry-After of a day": Case(
        (lambda p: failure(429, **{"Retry-After": "86400"}),), 3, ("It asks to wait 86400 s, longer than",), 1
    ),
    "null": Case((lambda p: answer(None),), 1, (*NO_PROGRAM, "the last one was empty"), 5),
    "blank": Case((lambda p: answer("  \n"),), 1, (*NO_PROGRAM, "the last one was empty"), 5),
    "filtered": Case((lambda p: answer("", "content_filter"),), 1, (*NO_PROGRAM, "the last one was refused"), 5),
    "prose": Case(
        (lambda p: answer("I would rather not."),), 1, (*NO_PROGRAM, "no block that starts with ```python"), 5
    ),
    "cut off": Case((lambda p: answer("```python\nhalf", "length"),), 1, (*NO_PROGRAM, "was truncated"), 15),
    "no usage": Case((lambda p: answer(p, usage=None),), 0, ("~",), 1),
    "a hostile program": Case(
        (lambda p: answer(HOSTILE),), 3, ("a cap is reached", "the module 'os' is not available", "rejected"), 3
    ),
}

LONGER = frozenset({"429 for ever", "blank", "filtered", "cut off", "no usage", "a hostile program"})


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits between attempts, which are noted and not waited."""
    noted: list[float] = []
    monkeypatch.setitem(factory.make.__kwdefaults__, "sleep", noted.append)
    return noted


@pytest.fixture
def ask(cwm: Any, server: Server, waits: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs `cwm synthesize tic_tac_toe` with a key against the server."""

    def run(*words: object) -> Any:
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        small = ["--games", 2, "--test-transitions", 0, "--further-games", 0, "--workers", 1]
        asked = ["--llm", "openai:m-1", "--base-url", f"{server.address}/v1", "--run", tmp_path / "run"]
        return cwm("synthesize", "tic_tac_toe", *asked, *small, *words)

    return run


class Endless(list[Reply]):
    """Replies in turn; the last one for ever."""

    def pop(self, index: Any = 0) -> Reply:
        return super().pop(index) if len(self) > 1 else self[0]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONGER)) for name in CASES])
def test_each_behaviour_is_a_sentence_and_the_documented_exit_code(
    name: str, ask: Any, server: Server, waits: list[float], right_program: str, tmp_path: Path
) -> None:
    case = CASES[name]
    server.replies = Endless(reply(program(right_program)) for reply in case.replies)
    # What is refused for its imports is asked for again; the rest of the cases need no cap.
    ran = ask(*(["--max-calls", 3] if name == "a hostile program" else []))
    said = ran.out + ran.err
    assert ran.code == case.code, said
    assert [words for words in case.said if words not in said] == [], said
    assert "Traceback" not in said
    assert (len(server.received), len(waits)) == (case.calls, case.waits)
    assert CANARY not in said
    assert [path for path in tmp_path.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()] == []
    if "held no program" in said:
        assert "best program so far" not in said


def test_a_server_that_hangs_is_left_when_the_time_is_up(ask: Any, server: Server, tmp_path: Path) -> None:
    server.replies = Endless([answer("late", hang_s=30.0)])
    ran = ask("--max-minutes", 0.01)
    assert ran.code == 3
    assert "a cap is reached" in ran.err
    assert "The cap on time is reached: raise it and resume." in ran.err
    assert 0.6 <= json.loads((tmp_path / "run" / ELAPSED_FILE).read_text())["seconds"] < 10
    assert "1 attempt to get an answer was cut off after the request was sent and may be on the bill" in ran.out


def test_errors_and_waits_never_pass_the_cap_on_time(ask: Any, server: Server, waits: list[float]) -> None:
    server.replies = Endless([failure(500)])
    ran = ask("--max-minutes", 0.05)
    # They are not waited here, so that the clock stands: none of them alone may be as long as the time that is left.
    assert ran.code == 3
    assert max(waits) < 3.0
    assert "The cap on time leaves" in ran.err
    assert "then attempt 2 of 6" in ran.err


def test_the_time_of_an_interrupted_call_is_counted(
    ask: Any, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*given: Any) -> None:
        threading.Event().wait(0.7)
        raise KeyboardInterrupt

    monkeypatch.setattr("cwm.llm.providers.transport.Clients.call", interrupted)
    ran = ask()
    assert (ran.code, ran.err.splitlines()[-1]) == (130, "error: interrupted.")
    assert json.loads((tmp_path / "run" / ELAPSED_FILE).read_text())["seconds"] >= 0.7


@pytest.mark.slow
def test_an_answer_in_pieces_makes_a_model(ask: Any, server: Server, right_program: str) -> None:
    pieces = [{"index": 0, "delta": {"content": program(right_program)}}, {"index": 0, "finish_reason": "stop"}]
    chunk = {**WHOLE, "object": "chat.completion.chunk"}
    body = "".join(f"data: {json.dumps({**chunk, 'choices': [piece]})}\n\n" for piece in pieces)
    server.replies = Endless([Reply(body=body, headers={"Content-Type": "text/event-stream"})])
    assert ask().code == 0
    assert server.received[0].body["stream"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--llm", "openai:"], "lacks what comes after the colon"),
        (["--llm", "nobody:m"], "Unknown language model 'nobody:m'"),
        (["--llm", "openai:m"], "No key for openai:m"),
        (["--llm", "anthropic:m"], "No key for anthropic:m: set ANTHROPIC_API_KEY"),
        (["--llm", "openai:m", "--base-url", "localhost:80"], "The base URL is no web address"),
        (["--llm", "openai:m", "--base-url", "http://h/v1", "--header", f"no {CANARY}"], "Header 1 is no NAME=VALUE"),
        (["--llm", "openai:m", "--base-url", "http://h/v1", "--reasoning-effort", "Very"], "no word of small letters"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_made(
    words: list[str], said: str, refused: Any, tmp_path: Path
) -> None:
    ran = refused("synthesize", "tic_tac_toe", *words, "--run", tmp_path / "run")
    assert (ran.code, CANARY in ran.err) == (3, False)
    assert said in ran.err
    assert not (tmp_path / "run").exists()


def test_a_dry_run_says_of_an_unknown_price_what_the_real_run_says(cwm: Any, refused: Any, tmp_path: Path) -> None:
    words = ["synthesize", "tic_tac_toe", "--llm", "openai:m", "--base-url", "http://h/v1", "--max-money", 1]
    real = refused(*words, "--run", tmp_path / "run")
    dry = cwm(*words, "--dry-run")
    assert (dry.code, real.code) == (3, 3)
    assert dry.err.splitlines()[-1] == real.err.rstrip("\n")
    assert "--price-in and --price-out" in real.err


@pytest.mark.parametrize(
    ("reply", "words", "said", "calls"),
    [
        (failure(401), [], "did not accept the key in OPENAI_API_KEY (401)", 1),
        (failure(500), [], "a language model gave no answer 6 times", 36),
        (answer('{"move": "x(1,1)"}'), ["--max-calls", 0], "The cap of 0 on calls would be passed", 0),
    ],
)
def test_in_the_arena_a_wrong_key_a_cap_and_a_broken_server_are_no_fault_of_ours(
    reply: Reply,
    words: list[object],
    said: str,
    calls: int,
    cwm: Any,
    server: Server,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    server.replies = Endless([reply])
    player = f"llm:openai:m-1,base_url={server.address}/v1,trajectories=0"
    ran = cwm(
        *("arena", "tic_tac_toe", "--agent", player, "--agent", "random", "--deals", 1, "--pairing", "cross"),
        *("--workers", 1, "--run", tmp_path / "cup", *words),
    )
    assert ran.code == 3, ran.err
    assert said in ran.err
    assert "fault of ours" not in ran.err
    assert (ran.out, CANARY in ran.err) == ("", False)
    assert len(server.received) == calls


@pytest.mark.slow
@pytest.mark.usefixtures("waits")
def test_a_run_whose_server_has_moved_goes_on_at_its_new_address(
    cwm: Any, ask: Any, server: Server, right_program: str, tmp_path: Path
) -> None:
    server.replies = [answer(program(right_program))]
    begun = ask("--base-url", "http://127.0.0.1:9/v1")
    assert begun.code == 3, begun.out + begun.err
    assert server.received == []
    again = cwm("resume", tmp_path / "run", "--base-url", f"{server.address}/v1", "--workers", 1)
    assert again.code == 0, again.out + again.err
    assert len(server.received) == 1


def test_a_resume_refuses_an_address_that_is_none_or_for_two_language_models(refused: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = RunSettings(game="tic_tac_toe", registered=True, llm="openai:m", base_url="http://127.0.0.1:9/v1")
    open_record(run, settings, run_inputs.registered("tic_tac_toe", 2, 0), Caps()).close()
    assert "The base URL is no web address" in refused("resume", run, "--base-url", "localhost:80").err
    speed.ask(run, speed.SpeedAsked(SpeedConfig(), "openai:n", "http://127.0.0.1:8/v1"))
    told = refused("resume", run, "--base-url", "http://127.0.0.1:7/v1").err
    assert f"{run} asks two language models, openai:m and openai:n: leave out --base-url" in told


@pytest.mark.usefixtures("waits")
def test_tournaments_take_a_new_address_where_one_language_model_plays(
    cwm: Any, refused: Any, monkeypatch: pytest.MonkeyPatch, server: Server, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)

    def begin(name: str, *agents: str) -> Path:
        words = [word for agent in agents for word in ("--agent", agent)]
        cwm("arena", "tic_tac_toe", *words, "--deals", 1, "--workers", 1, "--run", tmp_path / name)
        return tmp_path / name

    address = ["--base-url", f"{server.address}/v1"]
    gone = "base_url=http://127.0.0.1:9/v1"
    server.replies = Endless([answer("b2")])
    alone = begin("alone", f"llm:openai:m,retries=0,{gone}", "random")
    assert server.received == []
    assert cwm("resume", alone, *address).code == 0
    assert server.received != []
    two = begin("two", f"llm:openai:m,{gone}", f"llm:openai:n,{gone}")
    assert "a tournament of several language models: leave out --base-url" in refused("resume", two, *address).err
    none = begin("none", "mcts:sims=2", "random")
    assert "makes no calls: leave out caps, prices, --base-url" in refused("resume", none, *address).err
