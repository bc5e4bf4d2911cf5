"""A model that passes its tests plays on; what it gets wrong there is shown to the language model and mended."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.evaluation.real_games import MIXED, PLANNER, RANDOM
from arena.pipeline import further_games
from arena.pipeline.further_games import ON_MODEL, FurtherGames
from arena.pipeline.synthesis import Outcome, SynthesisRun
from arena.report import run_report
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record, read_result
from arena.runs.settings import RunSettings
from arena.runs.stage import Stage
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle, describe
from cwm.record.record import RunRecord
from cwm.sandbox.wire.api import Outcome as ProgramOutcome
from cwm.storage.keys import program_hash
from cwm.synthesis.candidate import Candidate, SuiteReport
from cwm.synthesis.config import SynthesisConfig
from cwm.synthesis.events import FurtherTested
from cwm.synthesis.further import Found

ROOT = Path(__file__).resolve().parents[3]
HIDDEN = ROOT / "tests" / "data" / "hidden_programs"
GAMES = 4


def wrapped(right: str) -> str:
    """Returns a program that takes broken diagonals for lines too: the recorded games have none, planners seek them."""
    old = "(2, 4, 6)]"
    assert old in right
    return right.replace(old, "(2, 4, 6), (0, 5, 7), (1, 3, 8), (2, 3, 7)]")


def script(path: Path, *programs: str) -> str:
    path.write_text("".join(json.dumps(f"```python\n{program}```") + "\n" for program in programs), encoding="utf-8")
    return f"scripted:{path}"


def settings(llm: str, **changes: Any) -> RunSettings:
    asked = RunSettings(
        "tic_tac_toe", True, llm=llm, test_transitions=20, planner_games=1, further_games=GAMES, further_rounds=2
    )
    return replace(asked, **changes)


def synthesise(folder: Path, asked: RunSettings, workers: int = 1) -> tuple[Outcome, list[Any]]:
    inputs = run_inputs.registered(asked.game, asked.train_games, asked.seed)
    told: list[Any] = []
    with open_record(folder, asked, inputs, Caps()) as record:
        outcome = SynthesisRun(record, asked, inputs, Caps(), workers, on_event=told.append).run()
        run_report.write_result(folder, outcome)
    return outcome, told


def requests(folder: Path) -> list[str]:
    with RunRecord.read(folder) as record:
        return [call.request.messages[-1].text for call in record.calls.calls()]


@pytest.fixture(scope="session")
def mended(right_program: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome, list[Any]]:
    folder = tmp_path_factory.mktemp("mended")
    llm = script(folder / "answers.jsonl", wrapped(right_program), right_program)
    outcome, told = synthesise(folder / "run", settings(llm))
    return folder / "run", outcome, told


def test_what_planners_visit_is_found_shown_and_mended(
    mended: tuple[Path, Outcome, list[Any]], right_program: str
) -> None:
    folder, outcome, told = mended
    assert (outcome.exact, outcome.synthesis.reason, outcome.synthesis.calls) == (True, "all_tests_pass", 2)
    assert outcome.bundle is not None
    assert outcome.bundle.source == right_program
    first, second = outcome.synthesis.rounds
    assert (first.program, second.program) == (program_hash(wrapped(right_program)), program_hash(right_program))
    assert first.failed["transition"] >= len(first.added) > 0
    assert (second.failed, second.added) == ({}, ())
    found = [event for event in told if isinstance(event, FurtherTested)]
    assert [(event.round, event.added) for event in found] == [(1, first.added), (2, ())]
    assert 0.9 < found[0].heuristic < 1.0
    _, repair = requests(folder)
    name = first.added[0].replace("-", "_")
    assert f"class Test_{name}(unittest.TestCase):" in repair
    assert "rewards: expected [0.0, 0.0]" in repair or "current_player: expected " in repair
    assert "(2, 3, 7)" in repair


def test_program_that_failed_further_tests_keeps_its_place_in_the_tree_and_all_its_tests(
    mended: tuple[Path, Outcome, list[Any]],
) -> None:
    folder, outcome, _ = mended
    wrong, right = outcome.synthesis.candidates
    added = len(outcome.synthesis.rounds[0].added)
    assert (wrong.status, right.status, right.parent) == ("tested", "passed", wrong.id)
    assert wrong.report.counts["transition"].failed == added
    assert wrong.report.counts["transition"].total == right.report.counts["transition"].total
    view = read_result(folder)["synthesis"]["tree"][0]
    assert view["heuristic"] == wrong.heuristic < 1.0


def test_accuracy_is_reported_apart_for_random_play_planner_and_online_states(
    cwm: Any, mended: tuple[Path, Outcome, list[Any]]
) -> None:
    folder, _, _ = mended
    evaluations = read_result(folder)["evaluations"]
    assert list(evaluations) == ["online", "planner", "test", "train"]
    assert evaluations["online"]["games"] == GAMES
    for split in evaluations.values():
        assert split["kinds"]["transition"]["accuracy"] == 1.0
    shown = cwm("report", folder).out
    assert all(split in shown for split in ("online", "planner", "test"))
    assert "further games, round 1" in shown
    assert f"{GAMES} of {ON_MODEL}" in shown


def test_model_that_is_right_costs_no_further_call(right_model: str, tmp_path: Path) -> None:
    outcome, _ = synthesise(tmp_path, settings(right_model))
    assert (outcome.synthesis.calls, len(outcome.synthesis.rounds)) == (1, 1)
    played = outcome.synthesis.rounds[0].games
    assert played == {ON_MODEL: GAMES, PLANNER: 2, MIXED: 1, RANDOM: 1}


def test_without_further_games_the_mistake_stays(right_program: str, tmp_path: Path) -> None:
    llm = script(tmp_path / "answers.jsonl", wrapped(right_program))
    outcome, _ = synthesise(tmp_path / "run", settings(llm, further_games=0))
    assert (outcome.exact, outcome.synthesis.rounds) == (True, ())
    assert "online" not in outcome.evaluations


def test_rounds_are_limited(right_program: str, tmp_path: Path) -> None:
    llm = script(tmp_path / "answers.jsonl", wrapped(right_program), right_program)
    outcome, _ = synthesise(tmp_path / "run", settings(llm, further_rounds=1))
    assert (outcome.exact, len(outcome.synthesis.rounds), outcome.synthesis.calls) == (True, 1, 2)


def test_conversation_goes_on_with_what_further_games_showed(right_program: str, tmp_path: Path) -> None:
    llm = script(tmp_path / "answers.jsonl", wrapped(right_program), right_program)
    asked = settings(llm, synthesis=SynthesisConfig(method="conversation"), planner_games=0, test_transitions=0)
    outcome, _ = synthesise(tmp_path / "run", asked)
    assert (outcome.exact, outcome.synthesis.calls) == (True, 2)
    assert f"class Test_{outcome.synthesis.rounds[0].added[0].replace('-', '_')}" in requests(tmp_path / "run")[1]


def test_retries_are_shared_by_all_rounds(right_program: str, tmp_path: Path) -> None:
    llm = script(tmp_path / "answers.jsonl", wrapped(right_program), right_program)
    outcome, _ = synthesise(tmp_path / "run", settings(llm, synthesis=SynthesisConfig(num_retries=0)))
    assert (outcome.exact, outcome.synthesis.reason) == (False, "retries_used")
    assert outcome.bundle is not None
    assert outcome.bundle.source == wrapped(right_program)


def test_recording_that_ends_before_a_further_round_leaves_the_program_and_says_so(
    cwm: Any, right_program: str, tmp_path: Path
) -> None:
    llm, recording = script(tmp_path / "answers.jsonl", wrapped(right_program)), tmp_path / "recording.jsonl"
    words = ["synthesize", "tic_tac_toe", "--test-transitions", 0, "--workers", 1, "--further-games", GAMES]
    made = cwm(*words, "--llm", llm, "--run", tmp_path / "a", "--record", recording, "--further-rounds", 1)
    assert made.code == 3
    ran = cwm(*words, "--llm", f"replay:{recording}", "--run", tmp_path / "b", "--json")
    assert ran.code == 1
    assert ran.json["synthesis"]["reason"] == "unanswered"
    assert "tests of further games" in ran.json["message"]
    assert ran.json["synthesis"]["best"] == program_hash(wrapped(right_program))


KILLED = """
import os, signal, sys
from pathlib import Path
from arena.runs import inputs as run_inputs
from arena.runs.settings import RunSettings
from cwm.llm.caps import Caps
from arena.pipeline.synthesis import SynthesisRun; from arena.runs.folder import open_record

folder, llm, place, games = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])

def event(event):
    number = event.round if event.kind == "further_tested" else getattr(event, "step", 0)
    if f"{event.kind}:{number}" == place:
        os.kill(os.getpid(), signal.SIGKILL)

settings = RunSettings(
    "tic_tac_toe", True, llm=llm, test_transitions=20, planner_games=1, further_games=games, further_rounds=2
)
inputs = run_inputs.registered("tic_tac_toe", 5, 0)
with open_record(folder, settings, inputs, Caps()) as record:
    SynthesisRun(record, settings, inputs, Caps(), 1, on_event=event).run()
"""


OTHER_PLACES = ("candidate_tested:0", "further_tested:1", "further_tested:2")


@pytest.mark.parametrize(
    "place", ["prompt_sent:1", *(pytest.param(place, marks=pytest.mark.slow) for place in OTHER_PLACES)]
)
def test_killed_run_goes_on_to_the_same_result_and_repeats_no_call(
    mended: tuple[Path, Outcome, list[Any]], right_program: str, tmp_path: Path, place: str
) -> None:
    whole, _, _ = mended
    llm = script(tmp_path / "answers.jsonl", wrapped(right_program), right_program)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "run"), llm, place, str(GAMES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL, done.stderr
    synthesise(tmp_path / "run", settings(llm))
    results = [read_result(folder) for folder in (tmp_path / "run", whole)]
    for result in results:
        del result["tally"]
    assert results[0] == results[1]
    assert requests(tmp_path / "run") == requests(whole)


def test_run_with_other_further_games_is_refused_with_the_difference(
    refused: Any, cwm: Any, right_model: str, tmp_path: Path
) -> None:
    words = ["synthesize", "tic_tac_toe", "--llm", right_model, "--test-transitions", 0, "--workers", 1]
    words += ["--run", tmp_path / "run"]
    assert cwm(*words, "--further-games", 0).code == 0
    ran = refused(*words)
    assert "config.further_games: not in the record, 5 now" in ran.err
    assert cwm("resume", tmp_path / "run", "--workers", 1).code == 0


def test_settings_of_an_older_run_have_no_further_rounds() -> None:
    old = settings("scripted:x").to_json()
    del old["further_games"], old["further_rounds"]
    known = RunSettings.from_record(old)
    assert known.further_games == 0
    assert known.to_json() == old


def test_game_of_ones_own_has_nothing_to_play_on(refused: Any, cwm: Any, own_game: Any, tmp_path: Path) -> None:
    own = ["synthesize", "--rules", own_game.rules, "--trajectories", own_game.trajectories]
    ran = refused(*own, "--further-games", 2)
    assert "noughts is a game of your own, of which nothing but the recorded games can be played" in ran.err
    llm = script(tmp_path / "answers.jsonl", own_game.program)
    made = cwm(*own, "--llm", llm, "--run", tmp_path / "run", "--workers", 1, "--json")
    assert made.json["synthesis"]["rounds"] == []


def found_by(folder: Path, asked: RunSettings, source: str, workers: int = 1) -> tuple[Found, FurtherGames]:
    inputs = run_inputs.registered(asked.game, asked.train_games, asked.seed)
    bundle = ModelBundle(source, None, inputs.initial_state, describe(inputs.info), "", asked.hidden.metadata())
    with open_record(folder, asked, inputs, Caps()) as record:
        games = FurtherGames(Stage(record, asked, inputs, workers))
        further = games.further(lambda _: bundle, lambda task: lambda sources: [])
        assert further is not None
        report = SuiteReport(ProgramOutcome.OK, (), {})
        candidate = Candidate(0, source, program_hash(source), None, 0, 1, report)
        first = further.search(candidate, 1)
        assert further.search(candidate, 1) == first
        return first, games


def test_what_is_found_does_not_depend_on_the_number_of_workers(right_program: str, tmp_path: Path) -> None:
    asked = settings("scripted:x")
    one, _ = found_by(tmp_path / "one", asked, wrapped(right_program))
    two, _ = found_by(tmp_path / "two", asked, wrapped(right_program), workers=3)
    assert one == two
    assert one.tests


def test_in_the_closed_deck_only_what_one_player_saw_is_tested(tmp_path: Path) -> None:
    source = (HIDDEN / "leduc_poker.py").read_text(encoding="utf-8")
    wrong = source + "\n\ndef resample_history(obs_action_history, player_id, last_is_terminal=False):\n    return []\n"
    asked = settings("scripted:x", game="leduc_poker", deck="closed")
    found, games = found_by(tmp_path, asked, wrong)
    assert set(found.games) == {PLANNER, MIXED, RANDOM}
    assert set(found.tested) == {"inference"}
    assert {test.kind for test in found.tests} == {"inference"}
    assert all(test.data.keys() >= {"history", "last_is_terminal"} for test in found.tests)
    assert "state" not in json.dumps([test.data for test in found.tests])
    assert games.stage.settings.hidden.deck == "closed"


def test_tests_of_further_games_bear_ids_of_their_own(
    mended: tuple[Path, Outcome, list[Any]], monkeypatch: pytest.MonkeyPatch, right_program: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(further_games, "MOST_ADDED", 3)
    known = {int(name.split("-")[1]) for name in mended[1].synthesis.rounds[0].added}
    assert min(known) >= 5
    found, _ = found_by(tmp_path, settings("scripted:x"), wrapped(right_program).replace("[1.0, -1.0]}", "[0.0, 0.0]}"))
    assert len({test.id for test in found.tests}) == len(found.tests) <= 3
