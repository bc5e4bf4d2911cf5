"""Games that were played after a synthesis become training games, and only what fails on them is refined."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cwm.model.bundle import ModelBundle
from cwm.record.record import RunRecord
from cwm.sandbox.inside.program import LoadedCode
from cwm.trajectories import files
from cwm.trajectories.recorded import Trajectory, collect, write
from games import registry
from games.api import GameInfo

LITTLE = ("--workers", 1)
WORTH = "def value_function(state, player_id):\n    return 0.0\n"
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
INFO = GameInfo("noughts", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 9)


def script(path: Path, *answers: str) -> str:
    path.write_text("".join(json.dumps(f"```python\n{answer}\n```") + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


def completed(game: Trajectory) -> list[tuple[int, int, int]]:
    board = game.steps[-1].state["board"]
    return [line for line in LINES if len({board[cell] for cell in line}) == 1 and board[line[0]] is not None]


def unseen(own_game: Any) -> tuple[int, int, int]:
    """Returns a line that nobody completes in the recorded games."""
    seen = [line for game in files.read(own_game.trajectories) for line in completed(game)]
    return next(line for line in LINES if line not in seen)


@pytest.fixture
def run(cwm: Any, own_game: Any, tmp_path: Path) -> Path:
    """Returns a run whose program passes the recorded games, but does not know one line."""
    ignorant = own_game.program.replace(str(unseen(own_game)) + ", ", "").replace(", " + str(unseen(own_game)), "")
    assert ignorant != own_game.program
    llm = script(tmp_path / "answers", ignorant, WORTH)
    words = ["--rules", own_game.rules, "--trajectories", own_game.trajectories, "--values", 1, "--held-out", 0]
    ran = cwm("synthesize", *words, "--tournament-deals", 1, "--llm", llm, "--run", tmp_path / "run", *LITTLE)
    assert ran.code == 0, ran.err
    return tmp_path / "run"


def asked(folder: Path) -> list[str]:
    with RunRecord.read(folder) as record:
        return [call.request.messages[-1].text for call in record.calls.calls()]


def test_games_of_the_arena_are_added_and_a_model_that_passes_them_is_asked_for_nothing(
    cwm: Any, run: Path, tmp_path: Path
) -> None:
    agents = ["--agent", "random:name=a", "--agent", "random:name=b", "--pairing", "cross"]
    assert cwm("arena", f"cwm:{run}", *agents, "--deals", 2, "--run", tmp_path / "cup", *LITTLE).code == 0
    made = cwm("trajectories", "from", tmp_path / "cup", "-o", tmp_path / "more.jsonl.gz")
    assert "4 games of noughts" in made.err
    assert cwm("trajectories", "check", tmp_path / "more.jsonl.gz").code == 0
    assert cwm("verify", tmp_path / "cup", "--export", tmp_path / "games.json").code == 0
    records = (tmp_path / "games.json").read_text()
    lines = "".join(f"{json.dumps(row)}\n" for row in json.loads(records))
    # An earlier version wrote the same, a line each.
    for text in (records, lines):
        (tmp_path / "games.jsonl").write_text(text)
        ran = cwm("trajectories", "check", tmp_path / "games.jsonl")
        assert "`cwm trajectories from FOLDER` makes training games" in ran.err
    again = cwm("synthesize", "--continue", run, "--add-games", tmp_path / "more.jsonl.gz", *LITTLE)
    assert (again.code, asked(tmp_path / "run-2")) == (0, [])
    train = files.read(tmp_path / "run-2" / "inputs" / "train.jsonl")
    assert len(train) == len(files.read(run / "inputs" / "train.jsonl")) + 4
    assert ModelBundle.load(tmp_path / "run-2").source == ModelBundle.load(run).source


def test_what_the_added_games_show_is_refined_and_what_stands_beside_the_model_stays(
    cwm: Any, own_game: Any, run: Path, tmp_path: Path
) -> None:
    true = LoadedCode(
        {"source": own_game.program, "initial_state": {"board": [None] * 9, "next": "x"}, "info": asdict(INFO)}
    ).instantiate()
    line = unseen(own_game)
    write(tmp_path / "more.jsonl", [game for game in collect(true, 60, 8) if completed(game) == [line]][:2])
    llm = script(tmp_path / "better", own_game.program)
    words = ["--add-games", tmp_path / "more.jsonl", "--llm", llm, "--run", tmp_path / "more"]
    again = cwm("synthesize", "--continue", run, *words, *LITTLE)
    assert again.code == 0, again.err
    (question,) = asked(tmp_path / "more")
    assert "current_player" in question
    before, after = ModelBundle.load(run), ModelBundle.load(tmp_path / "more")
    assert after.source.strip() == own_game.program.strip()
    assert (after.value_source, after.rules_hash) == (before.value_source, before.rules_hash)
    assert cwm("resume", tmp_path / "more", *LITTLE).code == 0
    assert len(asked(tmp_path / "more")) == 1


def test_what_does_not_go_together_is_named(refused: Any, run: Path, tmp_path: Path) -> None:
    games = tmp_path / "kuhn.jsonl"
    write(games, collect(registry.make("kuhn_poker"), 1, 0))
    ran = refused("synthesize", "--continue", run, "--add-games", games)
    assert "holds games of kuhn_poker, the run is of noughts" in ran.err
    assert "--add-games adds to a run: name it by --continue RUN" in refused("synthesize", "--add-games", games).err
    assert "leave out game, --rules" in refused("synthesize", "tic_tac_toe", "--continue", run).err
    assert "holds no run" in refused("synthesize", "--continue", tmp_path / "none").err


def test_a_folder_without_finished_games_is_one_sentence(refused: Any, tmp_path: Path) -> None:
    ran = refused("trajectories", "from", tmp_path, "-o", tmp_path / "more.jsonl")
    assert "holds no games: games.sqlite is missing; give the folder of a tournament" in ran.err
