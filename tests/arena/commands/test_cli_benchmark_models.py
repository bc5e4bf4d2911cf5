"""`cwm benchmark models`, from the command line: scripted answers hold the true games, written as programs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import cli
from arena.commands import benchmark_models
from arena.yardstick import games, standings, tasks
from arena.yardstick.line import read_lines
from cwm.llm.providers.scripted import Scripted
from cwm.record.record import RunRecord
from cwm.synthesis.candidate import TesterError

PROGRAMS = Path(__file__).resolve().parents[2] / "data" / "programs"
PAIR = ("nim", "first_sealed_auction")
WRONG_END = ("loser = (len(state", "loser = (1 + len(state")
"""Turns the right program of nim into one that mistakes the winner."""


def program(game: str) -> str:
    return (PROGRAMS / f"yardstick_{game}.py").read_text(encoding="utf-8")


def answers(folder: Path, **texts: str) -> str:
    """Writes a script for each game, and returns the name of the model that has them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for game, text in texts.items():
        one = {"text": f"```python\n{text}\n```", "model": "tester-1"}
        (folder / f"{game}.jsonl").write_text((json.dumps(one) + "\n") * 4, encoding="utf-8")
    return f"scripted:{folder}"


def words(llm: str, run: Path, *more: object, chosen: str = ",".join(PAIR)) -> list[str]:
    given = ["benchmark", "models", "--games", chosen, "--llm", llm, "--run", run, "--workers", 1, *more]
    return [str(word) for word in given]


@pytest.fixture(autouse=True)
def _no_lines_that_ship(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "shipped", list)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> str:
    return answers(tmp_path_factory.mktemp("answers"), **{game: program(game) for game in PAIR})


@pytest.fixture(scope="module")
def measured(right: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of two games that were written right at once, with their recordings beside it."""
    place = tmp_path_factory.mktemp("measured")
    assert cli.run(words(right, place / "run", "--row", "careful", "--record", place / "recorded")) == 0
    return place / "run"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Counts what scripts are asked."""
    found: list[Any] = []
    complete = Scripted.complete

    def counted(self: Scripted, request: Any) -> Any:
        found.append(request)
        return complete(self, request)

    monkeypatch.setattr(Scripted, "complete", counted)
    return found


def without_time(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in ("date", "asked", "row", "run", "standings")}


def test_the_line_holds_what_came_of_every_game(measured: Path) -> None:
    (line,) = read_lines(measured / "line.json")
    assert (line.yardstick, line.row, line.model) == (games.load().version, "careful", "tester-1")
    assert [result.game for result in line.games] == list(PAIR)
    for result in line.games:
        task = next(task for task in tasks.load() if task.name == result.game)
        (attempt,) = result.syntheses
        fixed = task.fixed(0)
        assert (result.rule_book, attempt.learn, attempt.held_out) == tuple(fixed.values())
        assert (attempt.state, attempt.reason, attempt.calls, attempt.cost) == ("exact", "", 1, None)
        assert attempt.transition == 1.0
    nim, auction = (result.syntheses[0] for result in line.games)
    assert (nim.transitions, nim.inference) == (296, None)
    assert (auction.transitions, auction.inference) == (272, 1.0)


def test_each_synthesis_is_a_run_of_its_own(measured: Path, cwm: Any) -> None:
    assert cwm("report", measured / "nim" / "s0").code == 0
    assert cwm("verify", measured / "nim" / "s0").code == 0
    page = (measured / "report.html").read_text(encoding="utf-8")
    assert "tester-1 (careful) wrote exact models in 2 of 2 games" in page
    assert "2 of 31 games" in page


def test_the_same_command_asks_nothing_again(measured: Path, right: str, cwm: Any, asked: list[Any]) -> None:
    before = (measured / "line.json").read_text(encoding="utf-8")
    ran = cwm(*words(right, measured, "--row", "careful", "--json"))
    assert (ran.code, asked) == (0, [])
    assert (measured / "line.json").read_text(encoding="utf-8") == before
    assert ran.json["run"] == str(measured)
    assert [(one["model"], one["row"], one["apart"]) for one in ran.json["standings"]] == [
        ("tester-1", "careful", "2 of 31 games")
    ]


def test_recordings_are_replayed_by_the_names_of_their_games(measured: Path, cwm: Any, tmp_path: Path) -> None:
    recorded = measured.parent / "recorded"
    assert sorted(file.name for file in recorded.iterdir()) == sorted(f"{game}.jsonl" for game in PAIR)
    # Of another game there is no recording, and of the second synthesis neither: that is no error.
    given = words(f"replay:{recorded}", tmp_path / "run", "--syntheses", 2, "--json", chosen="nim,pig")
    ran = cwm(*given, "--price-in", 1, "--price-out", 2, "--lines", measured / "line.json")
    assert ran.code == 0, ran.err
    states = {row["game"]: [one["state"] for one in row["syntheses"]] for row in ran.json["games"]}
    assert states == {"nim": ["exact", "not recorded"], "pig": ["not recorded", "not recorded"]}
    (first, _) = ran.json["games"][0]["syntheses"]
    known = json.loads((measured / "line.json").read_text(encoding="utf-8"))["games"][0]["syntheses"][0]
    assert first | {"cost": None} == known
    assert first["cost"] == pytest.approx((first["input_tokens"] + 2 * first["output_tokens"]) / 1e6)
    assert len(ran.json["standings"]) == 2


def test_a_recording_of_other_requests_is_not_recorded(measured: Path, cwm: Any, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    text = (measured.parent / "recorded" / "nim.jsonl").read_bytes()
    (tmp_path / "other" / "first_sealed_auction.jsonl").write_bytes(text)
    ran = cwm(*words(f"replay:{tmp_path / 'other'}", tmp_path / "run", "--json", chosen=PAIR[1]))
    assert ran.code == 0
    (attempt,) = ran.json["games"][0]["syntheses"]
    assert (attempt["state"], attempt["reason"]) == ("not recorded", "its recording answers other requests")


def test_failures_stay_in_the_table_with_their_reason(cwm: Any, tmp_path: Path, asked: list[Any]) -> None:
    wrong = program("nim").replace(*WRONG_END)
    llm = answers(tmp_path / "answers", nim=wrong)
    (tmp_path / "answers" / "first_sealed_auction.jsonl").write_text('"I cannot."\n' * 4, encoding="utf-8")
    ran = cwm(*words(llm, tmp_path / "run", "--max-calls", 2))
    assert ran.code == 0, ran.err
    (line,) = read_lines(tmp_path / "run" / "line.json")
    nim, auction = (result.syntheses[0] for result in line.games)
    assert (nim.state, nim.calls) == ("capped", 2)
    assert re.fullmatch(r"calls used up, \d\d\.\d% of its own \w+ tests pass", nim.reason)
    assert nim.transition is not None
    assert 0 < nim.transition < 1
    assert (auction.state, auction.calls, auction.transition) == ("no program", 2, None)
    assert auction.reason == "no answer held a program, calls used up"
    assert len(asked) == 4
    assert "calls used up" in ran.out

    # A higher cap goes on where it was: nothing is asked twice.
    again = cwm(*words(llm, tmp_path / "run", "--max-calls", 3, "--json", chosen="nim"))
    assert (again.code, len(asked)) == (0, 5)
    assert again.json["games"][0]["syntheses"][0]["calls"] == 3


def test_a_cap_on_all_games_together_ends_the_command(cwm: Any, right: str, tmp_path: Path, asked: list[Any]) -> None:
    ran = cwm(*words(right, tmp_path / "run", "--max-tokens", 1))
    assert (ran.code, asked) == (3, [])
    assert "a cap on all games together is reached; the same command with a higher one goes on" in ran.err
    (line,) = read_lines(tmp_path / "run" / "line.json")
    assert [result.syntheses[0].state for result in line.games] == ["unfinished", "unfinished"]


@pytest.mark.slow
def test_with_a_higher_cap_on_all_games_together_they_go_on(
    cwm: Any, right: str, tmp_path: Path, asked: list[Any]
) -> None:
    assert cwm(*words(right, tmp_path / "run", "--max-tokens", 1)).code == 3
    ran = cwm(*words(right, tmp_path / "run", "--max-tokens", 100_000, "--json"))
    assert (ran.code, len(asked)) == (0, 2)
    assert [row["syntheses"][0]["state"] for row in ran.json["games"]] == ["exact", "exact"]


def test_a_fault_of_ours_ends_one_synthesis_and_the_others_are_made(
    cwm: Any, right: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def broken(record: RunRecord, settings: Any, *given: Any) -> Any:
        begun.append(settings.game)
        raise TesterError("the worker did not start\nat all")

    monkeypatch.setattr(benchmark_models, "complete", broken)
    ran = cwm(*words(right, tmp_path / "run"))
    assert (ran.code, len(begun)) == (4, 2)
    assert "the same command tries it again" in ran.err
    (line,) = read_lines(tmp_path / "run" / "line.json")
    assert [(one.syntheses[0].state, one.syntheses[0].reason) for one in line.games] == [
        ("error", "the worker did not start")
    ] * 2


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 2])
def test_an_interrupted_command_goes_on_and_comes_to_the_same_line(
    measured: Path, cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    llm = f"replay:{measured.parent / 'recorded'}"
    given = words(llm, tmp_path / "run", "--parallel", parallel, "--json")
    complete = benchmark_models.complete
    ended: list[str] = []

    def killed(record: RunRecord, settings: Any, *more: Any) -> Any:
        done = complete(record, settings, *more)
        ended.append(settings.game)
        if len(ended) == 1:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(benchmark_models, "complete", killed)
    ran = cwm(*given)
    assert ran.code == 130
    assert "the same command goes on" in ran.err
    ran = cwm(*given)
    assert ran.code == 0, ran.err
    known = json.loads((measured / "line.json").read_text(encoding="utf-8"))
    assert without_time(ran.json) == without_time(known)


@pytest.mark.slow
def test_a_registered_game_is_tested_on_its_fixed_held_out_games(
    right_program: str, cwm: Any, tmp_path: Path, asked: list[Any]
) -> None:
    llm = answers(tmp_path / "answers", tic_tac_toe=right_program)
    ran = cwm(*words(llm, tmp_path / "run", "--json", chosen="tic_tac_toe"))
    assert ran.code == 0, ran.err
    (attempt,) = ran.json["games"][0]["syntheses"]
    assert (attempt["state"], attempt["transitions"], len(asked)) == ("exact", 11_563, 1)


def test_a_dry_run_tells_how_much_would_be_asked_and_asks_nothing(
    cwm: Any, right: str, tmp_path: Path, asked: list[Any]
) -> None:
    prices = ["--price-in", 1, "--price-out", 10, "--max-calls", 7]
    ran = cwm(*words(right, tmp_path / "run", "--dry-run", "--json", *prices))
    assert (ran.code, asked, (tmp_path / "run").exists()) == (0, [], False)
    first = ran.json["first_prompts"]
    assert [row["game"] for row in first] == list(PAIR)
    assert ran.json["input_tokens_estimated"] == sum(row["input_tokens"] for row in first) > 5000
    assert ran.json["first_calls_cost_at_most"] == pytest.approx(
        (ran.json["input_tokens_estimated"] + 2 * 32_768 * 10) / 1e6
    )
    assert (ran.json["syntheses"], ran.json["calls_at_most"]) == (2, 14)
    assert "nim" in cwm(*words(right, tmp_path / "run", "--dry-run")).out


def broken_line(folder: Path) -> list[object]:
    (folder / "lines").write_text("no JSON\n", encoding="utf-8")
    return ["--lines", folder / "lines"]


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        (lambda folder: ["--games", "chess"], 2, "The yardstick has no game 'chess'; it has tic_tac_toe, "),
        (lambda folder: ["--games", "nim,pig,nim"], 2, "nim is given twice"),
        (lambda folder: ["--llm", "replay:nowhere"], 2, "'nowhere' is neither a folder of recordings"),
        (lambda folder: ["--llm", "openai:m"], 3, "No key for openai:m"),
        (lambda folder: ["--llm", "nobody"], 3, "Unknown language model 'nobody'"),
        (lambda folder: ["--syntheses", "6"], 2, "'--syntheses'"),
        (lambda folder: ["--lines", folder / "none"], 2, "cannot be read (No such file or directory)"),
        (broken_line, 2, "is no result of the yardstick"),
        (lambda folder: ["--llm", "replay:x.jsonl"], 3, "x.jsonl"),
        (lambda folder: ["--reasoning-effort", "very much"], 3, "is no word of small letters"),
    ],
)
def test_bad_input_is_one_sentence_and_makes_no_folder(
    refused: Any, tmp_path: Path, given: Callable[[Path], list[object]], code: int, named: str
) -> None:
    ran = refused("benchmark", "models", *given(tmp_path), "--run", tmp_path / "run")
    assert (ran.code, (tmp_path / "run").exists()) == (code, False)
    assert named in ran.err


@pytest.mark.parametrize("command", ["report", "verify", "resume"])
def test_the_folder_of_all_syntheses_is_no_single_run(measured: Path, refused: Any, command: str) -> None:
    ran = refused(command, measured)
    assert ran.code == 2
    assert f"give one of them, e.g. {measured}/first_sealed_auction/s0; the same `cwm benchmark models`" in ran.err


def test_a_folder_takes_one_language_model(measured: Path, refused: Any, tmp_path: Path) -> None:
    other = answers(tmp_path / "answers", nim="pass")
    ran = refused(*words(other, measured, chosen="nim"))
    assert ran.code == 2
    assert "scripted:" in ran.err
