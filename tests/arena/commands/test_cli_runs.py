import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline.synthesis import SynthesisRun
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record
from arena.runs.settings import MatchSettings, RunSettings
from cwm.llm.caps import Caps


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """Returns a copy of a finished run, to be damaged."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    return folder


def cut(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 3])

    return change


def put(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None  # type: ignore[func-returns-value]


def drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("command", "damage", "code", "named"),
    [
        ("report", cut("run.json"), 4, "run.json is damaged"),
        ("resume", cut("run.json"), 4, "run.json is damaged"),
        ("report", put("run.json", "[]"), 4, "run.json is damaged"),
        ("report", drop("run.json"), 2, "holds no run: run.json is missing"),
        ("resume", drop("run.json"), 2, "holds no run: run.json is missing"),
        ("report", cut("journal.sqlite"), 4, "journal.sqlite is damaged"),
        ("resume", put("journal.sqlite", "no database at all"), 4, "journal.sqlite is damaged"),
        ("report", drop("journal.sqlite"), 4, "journal.sqlite"),
        ("report", cut("result.json"), 4, "`cwm resume"),
        ("report", put("result.json", "[]"), 4, "`cwm resume"),
        ("report", cut("model/model.json"), 4, "`cwm resume"),
        ("report", drop("model/program.py"), 4, "`cwm resume"),
        ("evaluate", cut("model/model.json"), 2, "model.json is damaged"),
        ("evaluate", put("model/model.json", "[]"), 2, "model.json is damaged"),
        ("evaluate", put("model/program.py", "x = 1"), 2, "one of them was changed"),
        ("export", drop("model/model.json"), 2, "holds no model"),
        ("resume", cut("caps.json"), 2, "caps.json is damaged"),
        ("resume", drop("inputs/rules.md"), 2, "restore them from a copy"),
        ("resume", put("inputs/info.json", "[]"), 2, "restore them from a copy"),
    ],
)
def test_a_damaged_run_is_named_in_one_sentence(
    refused: Any, run: Path, command: str, damage: Callable[[Path], None], code: int, named: str
) -> None:
    damage(run)
    words = ["-o", run / "game.py"] if command == "export" else []
    ran = refused(command, run, *words)
    assert ran.code == code
    assert named in ran.err


@pytest.mark.parametrize("damage", [cut("result.json"), cut("model/model.json"), drop("model/program.py")])
def test_resume_makes_anew_what_can_be_made_anew(cwm: Any, run: Path, damage: Callable[[Path], None]) -> None:
    before = cwm("report", run, "--json").json
    damage(run)
    assert cwm("resume", run, "--workers", 1).code == 0
    assert cwm("report", run, "--json").json == before


def test_settings_that_are_none_are_a_damaged_record(refused: Any, run: Path) -> None:
    data = json.loads((run / "run.json").read_text())
    del data["config"]["synthesis"]
    (run / "run.json").write_text(json.dumps(data))
    for command in ("report", "resume"):
        ran = refused(command, run)
        assert (ran.code, "run.json are damaged" in ran.err) == (4, True)


def test_a_run_without_a_result_is_reported_as_far_as_it_got(cwm: Any, run: Path) -> None:
    (run / "result.json").unlink()
    shutil.rmtree(run / "model")
    ran = cwm("report", run)
    assert ran.code == 0
    assert "not finished" in ran.out


@pytest.mark.parametrize("place", ["missing", "file"])
@pytest.mark.parametrize("command", ["report", "resume", "evaluate"])
def test_a_folder_that_is_no_run_is_refused(refused: Any, tmp_path: Path, command: str, place: str) -> None:
    (tmp_path / "file").write_text("text")
    ran = refused(command, tmp_path / place)
    assert ran.code in (2, 4)
    assert str(tmp_path / place) in ran.err


def test_fresh_games_are_named_so_and_counted(cwm: Any, finished: Path) -> None:
    ran = cwm("evaluate", finished, "--transitions", 40, "--workers", 1)
    assert ran.code == 0
    assert "fresh" in ran.out
    assert "given" not in ran.out
    data = cwm("evaluate", finished, "--transitions", 40, "--workers", 1, "--json").json
    assert data["kinds"]["transition"]["accuracy"] == 1.0
    assert data["fields"]["final_scores"]["accuracy"] == 1.0


@pytest.mark.parametrize("how", [[], ["--in-process"]])
def test_exported_file_plays_in_a_fresh_process(cwm: Any, finished: Path, tmp_path: Path, how: list[str]) -> None:
    file = tmp_path / "exported.py"
    assert cwm("export", finished, "-o", file, *how).code == 0
    code = (
        "import exported, numpy, pyspiel\n"
        "from open_spiel.python.algorithms import mcts\n"
        "game = pyspiel.load_game('cwm_tic_tac_toe')\n"
        "pyspiel.random_sim_test(game, 1, False, False)\n"
        "evaluator = mcts.RandomRolloutEvaluator(1, numpy.random.RandomState(0))\n"
        "bot = mcts.MCTSBot(game, 1.4, 10, evaluator, random_state=numpy.random.RandomState(1))\n"
        "state = game.new_initial_state()\n"
        "while not state.is_terminal(): state.apply_action(bot.step(state))\n"
        "assert sum(state.returns()) == 0\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr


def test_export_refuses_to_replace_a_file_and_bad_names(refused: Any, finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("mine")
    assert "--force to replace it" in refused("export", finished, "-o", file).err
    assert "There is no folder" in refused("export", finished, "-o", tmp_path / "no" / "file.py").err
    assert (
        "it must be letters, digits and underscores"
        in refused("export", finished, "-o", tmp_path / "other.py", "--name", "two words").err
    )
    assert file.read_text() == "mine"


def test_a_tournament_is_kept_and_resumed(cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["arena", "tic_tac_toe", "--agent", "random", "--agent", "mcts:sims=5", "--deals", 2, "--workers", 1]
    whole = cwm(*words, "--json").json

    def interrupted(progress: Any, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rich.progress.Progress.update", interrupted)
        stopped = cwm(*words, "--run", tmp_path / "cup")
    assert stopped.code == 130
    assert f"1 finished games are kept; `cwm resume {tmp_path / 'cup'}` plays the rest" in stopped.err
    resumed = cwm("resume", tmp_path / "cup", "--workers", 1, "--json").json
    for found in (whole, resumed):
        for agent in found["standings"]["agents"]:
            agent.pop("seconds")
    assert resumed["standings"] == whole["standings"]
    refused = cwm("resume", tmp_path / "cup", "--max-calls", 3)
    assert (refused.code, "holds a tournament" in refused.err) == (2, True)
    other = cwm(*words, "--run", tmp_path / "cup", "--seed", 1)
    assert (other.code, "holds games of another configuration (seed: 0 in the record, 1 now)" in other.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--agent", "random", "--agent", "random"], "Two agents are named 'random'"),
        (["--agent", "human"], "is a person, who plays with `cwm play`"),
        (["--agent", "random", "--pairing", "cross"], "Pairing 'cross' needs more"),
        (["--agent", "random", "--pairing", "luck"], "--pairing is 'luck'; it must be all, cross or self."),
        (["--agent", "mcts:sims=0"], "simulations is 0"),
        (["--agent", "cwm:/no/such/run"], "no model can be read from '/no/such/run'"),
    ],
)
def test_a_tournament_that_cannot_be_played_is_refused(refused: Any, words: list[str], named: str) -> None:
    ran = refused("arena", "tic_tac_toe", *words)
    assert ran.code == 2
    assert named in ran.err


def test_the_recorded_model_of_the_game_at_hand_plays(
    cwm: Any, finished: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def folder_of(game: str, seed: int = 0, on_stage: object = None) -> Path:
        assert seed == 0
        asked.append(game)
        return finished

    monkeypatch.setattr("arena.pipeline.recorded_models.folder_of", folder_of)
    words = ["--agent", "cwm:recorded,sims=5", "--agent", "random", "--json"]
    assert cwm("play", "tic_tac_toe", *words).json["seats"] == ["cwm:recorded,sims=5", "random"]
    cup = ["arena", "tic_tac_toe", *words, "--deals", 1, "--workers", 1, "--run", tmp_path / "cup"]
    assert cwm(*cup).code == 0
    assert json.loads((tmp_path / "cup" / "tournament.json").read_text())["agents"][0]["model"] == "recorded"
    assert cwm("resume", tmp_path / "cup", "--workers", 1).code == 0
    assert asked == ["tic_tac_toe"] * 3


def test_online_accuracy_is_that_of_the_matches_of_the_models_planner(
    cwm: Any, right_model: str, tmp_path: Path
) -> None:
    settings = RunSettings(
        game="tic_tac_toe",
        registered=True,
        llm=right_model,
        test_transitions=0,
        planner_games=0,
        matches=MatchSettings(deals=1, simulations=5, rollouts=1),
    )
    inputs = run_inputs.registered("tic_tac_toe", 5, 0)
    with open_record(tmp_path / "run", settings, inputs, Caps()) as record:
        work = SynthesisRun(record, settings, inputs, Caps(), workers=1)
        made = work.run()
        assert "online" not in made.evaluations
        matches = work.matches(made)
        online = work.online(made, matches).evaluations["online"]
        again = work.online(made, matches).evaluations["online"]
    played = [game for game in matches.records if "cwm" in game.seats]
    assert len(matches.records) == 6
    assert len(played) == 5
    assert online["kinds"]["transition"]["passed"] == sum(len(game.actions) + 1 for game in played)
    assert online["kinds"]["transition"]["accuracy"] == 1.0
    assert online["fields"]["final_scores"]["passed"] == 5
    assert again == online


def test_online_accuracy_is_in_result_table_and_page(cwm: Any, right_model: str, tmp_path: Path) -> None:
    settings = RunSettings(
        game="tic_tac_toe",
        registered=True,
        llm=right_model,
        test_transitions=0,
        planner_games=0,
        matches=MatchSettings(deals=1, simulations=5, rollouts=1),
    )
    inputs = run_inputs.registered("tic_tac_toe", 5, 0)
    open_record(tmp_path / "run", settings, inputs, Caps()).close()
    ran = cwm("resume", tmp_path / "run", "--workers", 1)
    assert ran.code == 0, ran.err
    assert "online" in ran.out
    assert "online" in json.loads((tmp_path / "run" / "result.json").read_text())["evaluations"]
    assert "<td>online</td>" in (tmp_path / "run" / "report.html").read_text()


def test_the_last_state_of_a_game_on_a_model_is_told(cwm: Any, finished: Path, tmp_path: Path) -> None:
    ran = cwm("play", f"cwm:{finished}", "--agent", "random", "--seed", 1, "--run", tmp_path / "played")
    assert "The last state:" in ran.out
    assert "agree with the model that decides them" in cwm("verify", tmp_path / "played").out


def test_a_model_that_decides_its_games_is_named_by_verify(cwm: Any, finished: Path, tmp_path: Path) -> None:
    words = ["arena", f"cwm:{finished}", "--agent", "random", "--deals", 1, "--workers", 1]
    assert cwm(*words, "--run", tmp_path / "kept").code == 0
    assert "agree with the model that decides them" in cwm("verify", tmp_path / "kept").out
