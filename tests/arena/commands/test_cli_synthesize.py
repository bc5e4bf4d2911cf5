import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from arena.runs.folder import DEFAULT_CALLS
from cwm.record.record import JOURNAL_FILE, RunRecord
from cwm.sandbox.parent import levels
from cwm.storage.journal import Journal, RunRecordError
from games.adapters import action_table

WRONG = "import os"
"""A program that is refused before it runs."""
NO_MORE = ("--further-games", 0)
"""Nothing is played on with a model that passed its tests."""


def script(path: Path, *answers: str) -> str:
    path.write_text("".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


def own(game: Any) -> list[object]:
    return ["synthesize", "--rules", game.rules, "--trajectories", game.trajectories]


def test_a_users_own_game_goes_from_rules_to_play_and_export(
    cwm: Any, own_game: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    model = script(tmp_path / "answers.jsonl", WRONG, own_game.program)
    made = cwm(*own(own_game), "--llm", model, "--run", run, "--workers", 1)
    assert made.code == 0, made.err
    assert "noughts" in made.out
    assert (run / "report.html").is_file()

    result = cwm("report", run, "--json").json
    assert set(result["evaluations"]) == {"train", "test"}
    for split in result["evaluations"].values():
        assert split["kinds"]["transition"]["accuracy"] == 1.0
        assert split["fields"]["final_scores"]["accuracy"] == 1.0

    kept = cwm("evaluate", run, "--workers", 1, "--json").json
    assert (kept["games"], kept["kinds"]["transition"]["accuracy"]) == (1, 1.0)
    tested = cwm("evaluate", run, "--trajectories", own_game.trajectories, "--workers", 1)
    assert (tested.code, tested.err.strip()) == (0, "")
    assert "games.jsonl" in tested.out

    played = cwm("play", f"cwm:{run}", "--run", tmp_path / "played", typed="#1\n" * 9)
    assert played.code == 0
    assert "first (human): " in played.out
    watched = cwm("play", f"cwm:{run}", "--agent", f"cwm:{run},sims=5", "--agent", "mcts:sims=5", "--json").json
    assert watched["game"] == "noughts"
    assert watched["forfeit"] is None
    assert watched["sandbox"] == levels.default()

    # All nine actions are legal in the first state.
    monkeypatch.setattr(action_table, "MAX_STATES", 20)
    monkeypatch.setattr(action_table, "PATIENCE", 50)
    assert cwm("export", run, "-o", tmp_path / "noughts_game.py").code == 0
    sim = "import noughts_game, pyspiel; pyspiel.random_sim_test(pyspiel.load_game('cwm_noughts'), 1, False, False)"
    fresh = subprocess.run([sys.executable, "-c", sim], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert fresh.returncode == 0, fresh.stderr


def test_an_own_game_is_never_given_a_recording_of_a_registered_one(
    refused: Any, own_game: Any, tmp_path: Path
) -> None:
    text = own_game.trajectories.read_text().replace('"game": "noughts"', '"game": "tic_tac_toe"')
    own_game.trajectories.write_text(text)
    ran = refused(*own(own_game), "--run", tmp_path / "run")
    assert ran.code == 2
    assert "No recorded completions ship for your own game tic_tac_toe" in ran.err


def test_an_own_game_needs_played_games_to_be_evaluated(cwm: Any, refused: Any, own_game: Any, tmp_path: Path) -> None:
    model = script(tmp_path / "answers.jsonl", own_game.program)
    words = ["--llm", model, "--run", tmp_path / "run", "--workers", 1]
    assert cwm(*own(own_game), *words, "--held-out", 0).code == 0
    ran = refused("evaluate", tmp_path / "run")
    assert (ran.code, "give played games by --trajectories" in ran.err) == (2, True)
    cwm("trajectories", "record", "kuhn_poker", "-o", tmp_path / "kuhn.jsonl")
    ran = refused("evaluate", tmp_path / "run", "--trajectories", tmp_path / "kuhn.jsonl")
    assert "holds games of kuhn_poker, the model is of noughts" in ran.err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "Name a registered game, or give both --rules FILE (or --no-rules) and --trajectories FILE"),
        (["--rules", "r.txt", "--no-rules", "--trajectories", "g.jsonl"], "Give either the rules r.txt or --no-rules"),
        (["scrambled:tic_tac_toe"], "has no rules text"),
        (["tic_tac_toe", "--rules", "r.txt"], "Give either the id of a registered game"),
        (["tic_tac_toe", "--held-out", "1"], "leave out --held-out"),
        (["--rules", "missing.txt", "--trajectories", "g.jsonl"], "The rules missing.txt cannot be read"),
        (["tic_tac_toe", "--method", "luck"], "method is 'luck'; it must be one of"),
        (["tic_tac_toe", "--config", "missing.json"], "The settings missing.json cannot be read"),
        (["yokai-8c-2p"], "No recorded completions ship for yokai-8c-2p"),
    ],
)
def test_a_contradiction_is_named_before_anything_is_made(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = refused("synthesize", *words)
    assert ran.code == 2
    assert named in ran.err
    assert list(tmp_path.iterdir()) == []


def test_without_rules_the_prompt_says_so_and_holds_the_games(cwm: Any, own_game: Any) -> None:
    shown = cwm("synthesize", "scrambled:tic_tac_toe", "--no-rules", "--dry-run", "--json").json["prompt"]
    assert "No rules text is known for this game" in shown
    told = cwm("synthesize", "tic_tac_toe", "--dry-run", "--json").json["prompt"]
    assert ("'board'" in told, "'board'" in shown) == (True, False)
    assert "apply_action(state, " in shown
    own = cwm("synthesize", "--no-rules", "--trajectories", own_game.trajectories, "--dry-run", "--json").json["prompt"]
    assert "No rules text is known for this game" in own


def test_a_model_synthesised_without_rules_is_tested_and_resumed_as_any_other(
    cwm: Any, own_game: Any, tmp_path: Path
) -> None:
    model = script(tmp_path / "answers.jsonl", own_game.program)
    words = ["--no-rules", "--trajectories", own_game.trajectories, "--llm", model, "--run", tmp_path / "run"]
    assert cwm("synthesize", *words, "--workers", 1).code == 0
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert settings["told"] is False
    assert cwm("resume", tmp_path / "run", "--workers", 1).code == 0


def test_all_games_held_out_are_refused(refused: Any, own_game: Any) -> None:
    ran = refused(*own(own_game), "--held-out", 6, "--llm", "scripted:x")
    assert (ran.code, "6 of 6 games would be held out" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--llm", "nope"], "Unknown language model 'nope': write one of openai:MODEL, "),
        (["--llm", "openai:"], "'openai:' lacks what comes after the colon"),
        (["--llm", "openai:m"], "No key for openai:m: set OPENAI_API_KEY"),
        (["--llm", "google:m"], "No key for google:m"),
        (["--llm", "openai:m", "--base-url", "nowhere"], "The base URL is no web address"),
        (["--llm", "replay:nope"], "There is no recording 'nope'"),
        (["--llm", "scripted:nope"], "The script nope cannot be read"),
        (["--base-url", "http://localhost:9/v1"], "takes no base URL"),
        (
            ["--llm", "openai:m", "--base-url", "http://localhost:9/v1", "--max-money", "1"],
            "give --price-in and --price",
        ),
        (["--price-in", "1"], "give both --price-in and --price-out"),
        (["--price-in", "-1", "--price-out", "1"], "are not both 0 or more"),
    ],
)
def test_a_model_that_cannot_be_asked_is_named_before_a_folder_is_made(
    refused: Any, tmp_path: Path, words: list[str], named: str
) -> None:
    ran = refused("synthesize", "tic_tac_toe", "--run", tmp_path / "run", *words)
    assert ran.code == 3
    assert named in ran.err
    assert not (tmp_path / "run").exists()


def test_an_unreachable_server_is_one_sentence_and_the_run_is_kept(cwm: Any, tmp_path: Path) -> None:
    words = ["--llm", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--run", tmp_path / "run"]
    ran = cwm("synthesize", "tic_tac_toe", *words)
    assert ran.code == 3
    assert ran.out == ""
    assert ran.err.splitlines()[-1].startswith("error: No connection to http://127.0.0.1:9/v1 for openai:m")
    assert f"`cwm resume {tmp_path / 'run'}` goes on" in ran.err


def test_dry_run_shows_the_prompt_and_its_cost_and_makes_nothing(cwm: Any, tmp_path: Path) -> None:
    words = ["synthesize", "tic_tac_toe", "--dry-run", "--run", tmp_path / "run", "--llm", "openai:m"]
    ran = cwm(*words, "--price-in", 1, "--price-out", 10, "--max-calls", 7, "--json")
    assert ran.code == 0
    assert ran.json["prompt"].startswith("You write software that plays games.")
    assert ran.json["calls_at_most"] == 7
    assert ran.json["first_call_costs_at_most"] > 0.3
    uncapped = cwm(*words, "--json").json
    assert (uncapped["first_call_costs_at_most"], uncapped["calls_at_most"]) == (None, DEFAULT_CALLS)
    assert cwm(*words, "--syntheses", 3, "--json").json["calls_at_most"] == 3 * DEFAULT_CALLS
    assert cwm(*words, "--retries", 4, "--json").json["calls_at_most"] == 15
    assert not (tmp_path / "run").exists()


def test_dry_run_of_an_own_game_promises_no_free_call(cwm: Any, own_game: Any) -> None:
    assert cwm(*own(own_game), "--dry-run", "--json").json["first_call_costs_at_most"] is None
    assert cwm("synthesize", "tic_tac_toe", "--dry-run", "--json").json["first_call_costs_at_most"] == 0.0


def test_a_new_run_ends_at_the_default_cap_and_goes_on_with_a_higher_one(
    cwm: Any, own_game: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert DEFAULT_CALLS == 50
    monkeypatch.setattr("arena.runs.folder.DEFAULT_CALLS", 2)
    run = tmp_path / "run"
    model = script(tmp_path / "answers.jsonl", WRONG, f"{WRONG}, re", own_game.program)
    ran = cwm(*own(own_game), "--llm", model, "--run", run, "--workers", 1)
    assert ran.code == 3
    assert "The cap of 2 on calls would be passed" in ran.err
    last = cwm("resume", run, "--workers", 1, "--max-calls", 3, "--json")
    assert (last.code, last.json["synthesis"]["calls"]) == (0, 3), last.err


def test_a_run_at_its_cap_goes_on_with_a_higher_one_and_repeats_no_answer(
    cwm: Any, own_game: Any, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    model = script(tmp_path / "answers.jsonl", WRONG, own_game.program)
    first = cwm(*own(own_game), "--llm", model, "--run", run, "--workers", 1, "--max-calls", 1)
    assert first.code == 3
    assert "a cap is reached" in first.err
    assert cwm("resume", run, "--workers", 1).code == 3
    last = cwm("resume", run, "--workers", 1, "--max-calls", 2, "--json")
    assert last.code == 0, last.err
    assert last.json["synthesis"]["calls"] == 2
    with RunRecord.read(run) as record:
        assert [call.status for call in record.calls.calls()] == ["answered", "answered"]


def test_a_model_that_is_not_exact_exits_with_1(cwm: Any, own_game: Any, tmp_path: Path) -> None:
    wrong = own_game.program.replace("return [1.0, -1.0] if", "return [0.5, -0.5] if")
    model = script(tmp_path / "answers.jsonl", wrong)
    ran = cwm(*own(own_game), "--llm", model, "--run", tmp_path / "run", "--workers", 1, "--retries", 0)
    assert ran.code == 1
    tested = cwm("evaluate", tmp_path / "run", "--trajectories", own_game.trajectories, "--workers", 1)
    assert tested.code == 1
    assert "transition: rewards" in tested.out


def test_json_is_alone_on_stdout(cwm: Any, right_model: str, tmp_path: Path) -> None:
    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", 0, "--workers", 1, *NO_MORE]
    ran = cwm(*words, "--run", tmp_path / "run", "--json")
    assert ran.code == 0
    assert ran.json["sandbox"] == levels.default()
    assert "every training test passes" in ran.err


def test_answers_are_added_to_a_recording_that_replays(cwm: Any, right_model: str, tmp_path: Path) -> None:
    words = ["synthesize", "tic_tac_toe", "--test-transitions", 0, "--workers", 1, *NO_MORE]
    recording = tmp_path / "recording.jsonl"
    assert cwm(*words, "--llm", right_model, "--run", tmp_path / "a", "--record", recording).code == 0
    assert cwm(*words, "--llm", f"replay:{recording}", "--run", tmp_path / "b").code == 0
    recording.write_text(recording.read_text()[:2000])
    ran = cwm(*words, "--llm", f"replay:{recording}", "--run", tmp_path / "c")
    assert ran.code == 3
    assert f"Line 2 of {recording} is no JSON" in ran.err


def test_terminal_shows_kinds_and_final_scores_and_the_page_every_field(cwm: Any, finished: Path) -> None:
    shown = cwm("report", finished).out
    assert "transition: final_scores" in shown
    assert "transition: next_state" not in shown
    assert "transition: next_state" in (finished / "report.html").read_text()


def test_a_killed_run_goes_on_to_the_same_result(cwm: Any, finished: Path, right_model: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", "60", "--workers", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", *words, "--run", str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        start_new_session=True,
    )
    while not (run / JOURNAL_FILE).exists() or not _answered(run):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    ran = cwm("resume", run, "--workers", 1)
    assert ran.code == 0, ran.err
    results = [json.loads((folder / "result.json").read_text()) for folder in (run, finished)]
    assert results[0]["model"] == results[1]["model"]
    assert results[0]["evaluations"] == results[1]["evaluations"]


def _answered(run: Path) -> bool:
    try:
        journal = Journal(run / JOURNAL_FILE, read_only=True)
    except RunRecordError:  # the other process has not made its tables yet
        return False
    try:
        return bool(journal.read("SELECT 1 FROM completions WHERE status = 'answered'"))
    except RunRecordError:  # likewise
        return False
    finally:
        journal.close()


def test_a_second_process_on_a_run_is_refused(refused: Any, finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    with RunRecord.open(run):
        ran = refused("resume", run)
    assert ran.code == 4
    assert "is open already" in ran.err or "is locked" in ran.err


def test_a_run_with_other_settings_is_refused_and_left_alone(
    refused: Any, finished: Path, right_model: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    before = (run / "result.json").read_bytes()
    ran = refused("synthesize", "tic_tac_toe", "--llm", right_model, "--seed", 9, "--run", run)
    assert ran.code == 2
    assert "config.seed: 0 in the record, 9 now" in ran.err
    assert (run / "result.json").read_bytes() == before


def test_a_file_in_the_place_of_a_run_is_refused(refused: Any, right_model: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    ran = refused("synthesize", "tic_tac_toe", "--llm", right_model, "--run", tmp_path / "run")
    assert ran.code == 4
    assert "a run is a folder" in ran.err
    assert (tmp_path / "run").read_text() == "mine"


def test_interrupt_keeps_what_was_finished_and_says_how_to_go_on(
    cwm: Any, right_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", 0, "--workers", 1, *NO_MORE]
    with monkeypatch.context() as patch:
        patch.setattr("cwm.suite.evaluation.evaluate", interrupted)
        ran = cwm(*words, "--run", tmp_path / "run")
    assert ran.code == 130
    assert f"`cwm resume {tmp_path / 'run'}` goes on" in ran.err
    assert ran.err.splitlines()[-1] == "error: interrupted."
    assert cwm("resume", tmp_path / "run", "--workers", 1).code == 0
