"""Tournaments on a game of the user's own file, with agents of his own: kept, resumed, verified, and a changed file."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import cwm
from arena import cli
from arena.agents.specs import parse
from arena.matches import store, tournament
from arena.matches.plan import TournamentConfig
from arena.matches.store import MemoryStore

NIM = Path(__file__).parents[2] / "data" / "own" / "nim.py"
MINE = "class Last:\n    def act(self, turn):\n        return turn.legal_actions[-1]\n"
SHELL = """while read -r line; do
  case $line in
    *'"type": "hello"'*) echo '{"type": "ready"}' ;;
    *'"type": "move"'*) echo '{"type": "action", "action": "take 1"}' ;;
  esac
done
"""
AGENTS = ["--agent", "python:mine.py:Last,name=last", "--agent", "exec:sh one.sh,name=one"]
Run = Callable[..., int]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the working folder, with a game and two agents in it."""
    for name, text in (("nim.py", NIM.read_text(encoding="utf-8")), ("mine.py", MINE), ("one.sh", SHELL)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arena(*more: str, workers: int = 1) -> int:
    return cli.run(
        ["arena", "python:nim.py:Nim", *AGENTS, "--deals", "1", "--run", "cup", "--workers", str(workers), *more]
    )


def test_a_tournament_is_kept_verified_and_resumed_from_another_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arena("--json") == 0
    first = json.loads(capsys.readouterr().out)
    os.chdir("/")
    assert cli.run(["verify", str(folder / "cup")]) == 0
    assert "4 of 4 stored games agree with the true rules" in capsys.readouterr().out
    assert cli.run(["resume", str(folder / "cup"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["standings"] == first["standings"]


@pytest.mark.slow
def test_processes_give_the_same_games(folder: Path) -> None:
    played = []
    for workers in (1, 2):
        assert arena(workers=workers) == 0
        games = store.read(folder / "cup").games
        played.append({key: record.to_json() | {"seconds": None} for key, record in games.items()})
        (folder / "cup").rename(folder / f"cup {workers}")
    assert len(played[0]) == 4
    assert played[0] == played[1]


def test_a_notice_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert arena() == 0
    assert capsys.readouterr().err.count("is code of your own: it runs as you do, in no sandbox") == 1


@pytest.mark.parametrize("file", ["nim.py", "mine.py", "one.sh"])
def test_a_changed_file_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], file: str) -> None:
    assert arena() == 0
    (folder / file).write_text((folder / file).read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    capsys.readouterr()
    assert cli.run(["resume", "cup"]) == 2
    assert "cup/games.sqlite holds games of another configuration" in capsys.readouterr().err
    if file == "nim.py":
        assert cli.run(["verify", "cup"]) == 2
        assert "has changed; restore it" in capsys.readouterr().err


def test_deals_do_not_depend_on_where_the_file_lies(folder: Path) -> None:
    other = folder / "elsewhere"
    other.mkdir()
    (other / "nim.py").write_text((folder / "nim.py").read_text(encoding="utf-8"), encoding="utf-8")
    plans = []
    for game in ("python:nim.py:Nim", "python:elsewhere/nim.py:Nim"):
        config = tournament.prepare(TournamentConfig(game, (parse("random"), parse("mcts:sims=2")), 2))
        assert config.game == f"python:{folder / game.removeprefix('python:')}"
        plans.append([planned.key for planned in tournament.plan(config)])
    assert plans[0] == plans[1]


def test_an_error_of_the_game_names_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "nim.py").read_text(encoding="utf-8").replace('if state["heap"]:', 'if state["heaps"]:')
    (folder / "nim.py").write_text(text, encoding="utf-8")
    config = tournament.prepare(TournamentConfig("python:nim.py:Nim", (parse("random"),), 1))
    result = tournament.run(config, MemoryStore())
    assert [*result.faults] == [f"{folder / 'nim.py'}, line 31: KeyError: 'heaps'"]
    assert cli.run(["play", "python:nim.py:Nim", "--agent", "random"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"error: code of your own failed: {folder / 'nim.py'}, line 31: KeyError: 'heaps'."
    )


def test_the_public_face_takes_them(folder: Path) -> None:
    agents = [cwm.make_agent("python:mine.py:Last", name="last"), cwm.make_agent("exec:sh one.sh", time=5, name="one")]
    assert agents[1].options == {"move_s": 5.0, "start_s": 30.0}
    record = cwm.play_match("python:nim.py:Nim", agents)
    assert [action for _, action in record.actions] == ["take 3", "take 1", "take 3"]
    assert record.returns == (1.0, -1.0)
    cup = cwm.play_tournament("python:nim.py:Nim", agents, deals=1, folder="cup")
    assert len(cup.games()) == 4
    assert cli.run(["verify", "cup"]) == 0


def test_self_play_and_cross_play_take_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["xp", "python:nim.py:Nim", *AGENTS, "--games", "2", "--run", "xp", "--workers", "1"]) == 0
    assert cli.run(["verify", "xp/2-seatings"]) == 0
    assert "2 of 2 stored games agree" in capsys.readouterr().out


def test_a_game_is_checked_against_the_contract(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["games", "check", "python:nim.py:Nim", "--games", "3"]) == 0
    assert capsys.readouterr().out == "python:nim.py:Nim keeps the contract in 3 random games\n"
    text = (folder / "nim.py").read_text(encoding="utf-8").replace("[1.0, -1.0]", "[2.0, -1.0]")
    (folder / "nim.py").write_text(text, encoding="utf-8")
    assert cli.run(["games", "check", "python:nim.py:Nim", "--games", "3"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("python:nim.py:Nim breaks the contract: ")
    assert "after the actions ['take" in line


def test_they_stand_beside_the_kinds_of_players(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare = ["compare", "python:nim.py:Nim", "--agents", "random", "--games", "2", "--workers", "1"]
    assert cli.run([*compare, *AGENTS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["name"] for item in found["contenders"]] == ["random", "last", "one"]
    assert found["played"] == 12
    assert cli.run([*compare, "--agent", "exec:sh one.sh,name=random"]) == 2
    assert "Two players are named 'random': give each its own with name=…." in capsys.readouterr().err
