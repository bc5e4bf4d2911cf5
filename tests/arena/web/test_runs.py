"""Runs and tournaments are followed while they grow: read from their folders, never written to."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from arena.matches import store
from arena.matches.match import GameRecord
from arena.web import answers, followed
from cwm.record.record import RunRecord
from cwm.storage.keys import program_hash
from cwm.synthesis.driver import STREAM
from cwm.synthesis.events import AnswerReceived, CandidateTested, PromptSent
from tests.arena.web.pages import SCRIPT, Browser

pytestmark = pytest.mark.extra("web")

BEGUN = Path(__file__).resolve().parents[3] / "tests" / "data" / "begun"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BEGUN / "run", tmp_path / "run"))


def key(browser: Browser, name: str) -> str:
    found: str = next(one["key"] for one in browser.get("/api/runs") if one["title"].endswith(name))
    return found


def test_a_run_is_shown_with_its_programs_calls_and_events(browser: Browser, folder: Path) -> None:
    told = browser.get(f"/api/runs/{key(browser, '/run')}")
    assert (told["is_run"], told["game"]) == (True, "leduc_poker")
    assert [(one["id"], one["parent"], one["call"], one["heuristic"]) for one in told["candidates"]] == [
        (0, None, 1, 1.0)
    ]
    assert told["curve"] == [[1.0, 1.0]]
    assert [call["purpose"] for call in told["calls"]] == ["transition+inference"]
    assert told["events"][0][0] == "finished"
    assert told["message"] == "every training test passes"


def test_a_call_and_a_program_are_shown_whole(browser: Browser, folder: Path) -> None:
    address = f"/api/runs/{key(browser, '/run')}"
    with RunRecord.read(folder) as record:
        [stored] = record.calls.calls()
        [program] = record.programs()
        source = record.program_source(program.hash)
    assert stored.completion is not None
    assert browser.get(f"{address}/calls/1")["answer"] == stored.completion.text
    assert browser.get(f"{address}/candidates/0")["source"] == source
    for path in ("calls/0", "calls/2", "candidates/1", "candidates/-1", "candidates/x"):
        assert browser.client.get(f"{address}/{path}").status_code == 404


def test_a_page_that_knows_it_all_is_told_so_until_something_is_written(browser: Browser, folder: Path) -> None:
    address = f"/api/runs/{key(browser, '/run')}"
    told = browser.get(address)
    assert browser.get(f"{address}?version={told['version']}") == {"version": told["version"]}
    add(folder, 1, SCRIPT)
    grown = browser.get(f"{address}?version={told['version']}")
    assert [one["id"] for one in grown["candidates"]] == [0, 1]
    assert grown["attempts"]["2"] == 3


def add(folder: Path, number: int, text: str) -> None:
    """Adds a program as a synthesis would, every word of which is markup."""
    source = f'"""{text}"""\n'
    with RunRecord.open(folder) as record:
        events = len(list(record.events(STREAM)))
        record.add_program(source)
        for event in (
            PromptSent(number, number + 1, 3, text, 1, 1),
            AnswerReceived(number, number + 1, "ok", text, 1, 1, 1, 0.0),
            CandidateTested(number, number, 0, program_hash(source), "rejected", 0.25, {text: 0.25}, (text,), None),
        ):
            record.add_event(STREAM, events, event.kind, event.to_json())
            events += 1


def test_a_program_is_compared_with_the_one_that_it_refines(browser: Browser, folder: Path) -> None:
    add(folder, 1, SCRIPT)
    address = f"/api/runs/{key(browser, '/run')}"
    told = browser.get(f"{address}/candidates/1")
    signs = {sign for sign, _ in told["difference"]}
    assert signs <= {" ", "+", "-", "@"}
    assert [line for sign, line in told["difference"] if sign == "+"] == [f'"""{SCRIPT}"""']
    assert told["problems"] == [SCRIPT]
    assert "script>alert" not in browser.client.get(f"/runs/{key(browser, '/run')}").text


def test_standings_are_those_of_the_stored_games(browser: Browser, tmp_path: Path) -> None:
    shutil.copytree(BEGUN / "tournament", tmp_path / "games")
    told = browser.get(f"/api/runs/{key(browser, '/games')}")
    assert told["games"] == 8
    assert {row["agent"]: row["seats"] for row in told["rows"]} == {
        "cwm:recorded,sims=60": 6,
        "random": 4,
        "ismcts:sims=60": 6,
    }
    assert math.isclose(sum(row["mean"][0] * row["seats"] for row in told["rows"]), 0.0, abs_tol=1e-9)


def game(deal: int, seats: tuple[str, str], returns: tuple[float, float]) -> GameRecord:
    return GameRecord(
        "leduc_poker", deal, seats, (), returns, returns, None, None, 0, ({}, {}), ({}, {}), None, ((), ())
    )


def test_intervals_of_the_standings_are_those_of_deals(browser: Browser, tmp_path: Path) -> None:
    with store.GameStore(tmp_path / "games", {"game": "leduc_poker"}) as games:
        # Twice the same game on each deal says no more than one.
        for deal, won in enumerate((1.0, 3.0)):
            for number in range(2):
                games.add(f"{deal}.{number}", game(deal, ("a", "b"), (won, -won)))
        games.add("alone", game(0, ("c", "c"), (0.5, 0.5)))
    rows = {row["agent"]: row for row in browser.get(f"/api/runs/{key(browser, '/games')}")["rows"]}
    quantile = 12.706204736
    assert rows["a"]["mean"] == pytest.approx([2.0, 2 - quantile, 2 + quantile])
    assert rows["b"]["mean"] == pytest.approx([-2.0, -2 - quantile, -2 + quantile])
    assert (rows["a"]["best"][0], rows["b"]["best"][0]) == (1.0, 0.0)
    assert 0 < rows["a"]["best"][1] < rows["a"]["best"][2] == 1.0
    assert [row["agent"] for row in browser.get(f"/api/runs/{key(browser, '/games')}")["rows"]] == ["a", "c", "b"]


def test_reading_a_run_changes_nothing_in_it(browser: Browser, folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    address = f"/api/runs/{key(browser, '/run')}"
    for path in ("", "/calls/1", "/candidates/0"):
        browser.get(address + path)
    after = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {name: after[name] for name in before} == before
    assert all(name.endswith(("-shm", "-wal")) for name in after.keys() - before.keys())


def test_a_damaged_run_is_one_sentence(browser: Browser, folder: Path) -> None:
    address = f"/api/runs/{key(browser, '/run')}"
    for program in (folder / "programs").iterdir():
        program.write_text(SCRIPT, encoding="utf-8")
    answer = browser.client.get(f"{address}/candidates/0")
    assert answer.status_code == 400
    assert "its hash is not its name" in answer.json()["error"]
    (folder / "journal.sqlite").write_bytes(b"no database")
    assert browser.client.get(address).status_code == 400


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800", {1: {2}}, [(math.nan,)], {"\udfff": None}])
def test_what_is_no_json_is_told_as_text(value: Any) -> None:
    body = bytes(answers.data({"value": value}).body)
    json.loads(body, parse_constant=lambda word: pytest.fail(word))


def test_best_pass_rates_never_fall() -> None:
    tested = CandidateTested(0, 0, None, "x", "tested", 0.5, {}, (), None)
    answer = AnswerReceived(0, 4, "ok", "m", 1, 1, 1, 0.0)
    told = [
        (answer.kind, answer.to_json()),
        (tested.kind, tested.to_json()),
        (tested.kind, tested.to_json() | {"heuristic": 0.25}),
    ]
    assert followed._curve(told) == [[4.0, 0.5], [4.0, 0.5]]
