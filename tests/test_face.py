"""The public face, as a user's notebook would go through it; then what the face promises of itself."""

import ast
import json
import os
import random
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import cwm
from arena import face
from arena.usage import UsageError
from cwm.functions.joint.asking import JointConfig
from cwm.sandbox.inside.program import LoadedCode
from cwm.sandbox.parent.payload import CORE
from cwm.trajectories.recorded import collect, write
from games.api import GameInfo, IllegalActionError

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "tests" / "data" / "programs" / "three_in_a_row.py"
PAGES = ("README.md", "arena/docs/LIBRARY.md")
TIMEOUT_S = 300


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of our own, in which a recording is replayed once."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


def test_a_recorded_model_is_a_game_with_tables_and_a_player() -> None:
    stages: list[str] = []
    run = cwm.open_recording("tic_tac_toe", on_stage=stages.append)
    assert any("replaying the recording" in stage for stage in stages)
    assert "def get_legal_actions" in run.model.source

    with run.game() as game:
        assert len(game.legal_actions(game.initial_state())) == 9

    again = cwm.open_run(run.folder)
    assert again == run
    tables = again.tables()
    assert [row["failed_tests"] for row in tables["tree"]] == [0]
    assert [row["calls"] for row in tables["usage"]] == [1]
    assert json.loads(json.dumps(tables)) == tables
    with pytest.raises(UsageError, match="has the tables accuracy, usage, tree, standings, similarity, not 'scores'"):
        again.records("scores")

    match = cwm.play_match("tic_tac_toe", [cwm.make_agent(run, sims=20), "random"], seed=1)
    assert sum(match.returns) == 0
    assert match.records()[0] == {"number": 0, "player": 0, "agent": match.seats[0], "action": match.actions[0][1]}


def test_a_planner_decides_where_information_is_hidden() -> None:
    game = cwm.make_game("leduc_poker")
    state, dealt = game.initial_state(), []
    while game.current_player(state) < 0:
        dealt.append(game.legal_actions(state)[0])
        state = game.apply_action(state, dealt[-1])

    planner = cwm.make_planner(game, simulations=20)
    position = cwm.make_position(game, dealt)
    assert position.state is None
    assert planner.choose(position, random.Random(0)).action in game.legal_actions(state)

    later = cwm.make_position(game, [*dealt, "Call"])
    assert later.player == 1
    with pytest.raises(IllegalActionError, match="chance moves: add one of its outcomes"):
        cwm.make_position(game, [])


def test_a_tournament_gives_plain_records_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    agents = [cwm.make_agent("mcts", sims=20, name="planner"), "random"]
    heard: list[int] = []

    def play() -> cwm.PlayedTournament:
        return cwm.play_tournament(
            "tic_tac_toe",
            agents,
            deals=2,
            pairing="cross",
            folder=tmp_path / "cup",
            on_game=lambda progress: heard.append(progress.done),
        )

    cup = play()
    assert heard == [1, 2, 3, 4]
    assert [(row["agent"], row["games"]) for row in cup.records()] == [("planner", 4), ("random", 4)]
    assert {tuple(game["seats"]) for game in cup.games()} == {("planner", "random"), ("random", "planner")}
    assert play().records() == cup.records()
    assert len(heard) == 4


def test_a_game_of_ones_own_is_written_by_a_language_model(tmp_path: Path) -> None:
    program = PROGRAM.read_text(encoding="utf-8")
    info = GameInfo("noughts", 2, "win_loss_draw", -1.0, 1.0, True, False, ("first", "second"), 9)
    code = LoadedCode({"source": program, "initial_state": {"board": [None] * 9, "next": "x"}, "info": asdict(info)})
    write(tmp_path / "games.jsonl", collect(code.instantiate(), 6, 3))
    (tmp_path / "rules.md").write_text("Three in a row on a board of nine cells.\n", encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text(json.dumps(f"```python\n{program}\n```") + "\n", encoding="utf-8")

    run = cwm.synthesize(
        rules=tmp_path / "rules.md",
        trajectories=tmp_path / "games.jsonl",
        folder=tmp_path / "run",
        llm=f"scripted:{tmp_path / 'answers.jsonl'}",
        caps=cwm.Caps(calls=3),
        workers=1,
    )
    assert {row["accuracy"] for row in run.records()} == {1.0}
    assert cwm.play_match(run, ["random", cwm.make_agent(run, sims=5, name="model")]).game == "noughts"
    assert (run.folder / "report.html").exists()


def test_an_error_is_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Name a registered game, or give both rules and trajectories"):
        cwm.synthesize("tic_tac_toe", rules="rules.md", folder=tmp_path)
    with pytest.raises(UsageError, match="seats 2, but 1 agents were given"):
        cwm.play_match("tic_tac_toe", ["random"])
    with pytest.raises(UsageError, match="No recorded completions ship for chess"):
        cwm.open_recording("chess")


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run_in_order(page: str, tmp_path: Path) -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert snippets
    (tmp_path / "games").mkdir()  # a folder of this name, as users have, is not taken for the package
    (tmp_path / "example.py").write_text("\n".join(snippets), encoding="utf-8")
    ran = run_python(tmp_path / "example.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr


def run_python(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python in a folder, with ours at the end of the path, as an installed package is."""
    ahead = f"import sys, runpy; sys.path.append({str(ROOT)!r}); "
    if isinstance(words[0], Path):
        code = f"sys.path[0] = {str(folder)!r}; runpy.run_path({str(words[0])!r}, run_name='__main__')"
    else:
        code = str(words[0])
    return subprocess.run(
        [sys.executable, "-c", ahead + code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )


@pytest.mark.parametrize(
    ("beside", "use", "said"),
    [
        ("games/__init__.py", "import cwm; print(cwm.make_game('tic_tac_toe').info.id)", "tic_tac_toe"),
        ("games.py", "from cwm.exported import register; print(register.__name__)", "register"),
        ("games.py", "import arena.machine.process_pool, games.api; print(games.api.__name__)", "games.api"),
        (
            "search.py",
            "import runpy; sys.argv[1:] = ['--version']; runpy.run_module('cwm', None, '__main__')",
            f"cwm {cwm.__version__}",
        ),
    ],
    ids=["the face", "an exported file", "a process of the arena", "the command"],
)
def test_all_works_beside_files_that_are_called_as_ours(beside: str, use: str, said: str, tmp_path: Path) -> None:
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).touch()
    ran = run_python(use, folder=tmp_path)
    assert ran.stdout == f"{said}\n", ran.stderr


TOURNAMENT = """
import cwm

if __name__ == "__main__":
    played = cwm.play_tournament("tic_tac_toe", ["random", "random:name=b"], deals=1, workers=2)
    print(played.result.table.games)
"""


def test_worker_processes_find_ours_beside_files_that_are_called_as_ours(tmp_path: Path) -> None:
    for beside in ("arena.py", "games/__init__.py", "search.py"):
        (tmp_path / beside).parent.mkdir(exist_ok=True)
        (tmp_path / beside).write_text("raise SystemExit('the user's')", encoding="utf-8")
    (tmp_path / "script.py").write_text(TOURNAMENT, encoding="utf-8")
    ran = run_python(tmp_path / "script.py", folder=tmp_path)
    assert (ran.stdout, ran.stderr) == ("4\n", "")


@pytest.mark.parametrize("first", ["cwm.make_game", "from cwm.exported import register"])
def test_a_module_of_the_users_that_was_imported_before_ours_is_named(first: str, tmp_path: Path) -> None:
    (tmp_path / "games.py").write_text("mine = 1\n", encoding="utf-8")
    ran = run_python(f"import cwm, games; print(games.mine); {first}", folder=tmp_path)
    assert ran.stdout == "1\n"
    message = ran.stderr.splitlines()[-1]
    assert message == (
        f"ImportError: cwm lies in {ROOT} and needs its own package 'games', but {tmp_path / 'games.py'} was imported "
        "before under this name: rename yours."
    )


@pytest.mark.parametrize("later", ["import games.chess", "from games import chess"])
def test_a_module_of_the_users_that_is_imported_after_ours_is_named(later: str, tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "__init__.py").touch()
    (tmp_path / "games" / "chess.py").touch()
    ran = run_python(f"import cwm; cwm.put_ours_first(); from games.api import Game; {later}", folder=tmp_path)
    assert ran.stderr.splitlines()[-1] == (
        "ImportError: There is no 'chess' in cwm's package 'games', which this program uses; yours of the same name, "
        f"{tmp_path / 'games' / '__init__.py'}, cannot be imported beside it: rename yours."
    )


def test_importing_cwm_loads_nothing_else(tmp_path: Path) -> None:
    code = "before = set(sys.modules); import cwm; print(*sorted(set(sys.modules) - before))"
    loaded = run_python(code, folder=tmp_path).stdout.split()
    assert [name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names] == ["cwm"]


def test_a_game_of_simultaneous_moves_is_synthesised_with_a_joint_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(face, "_synthesized", lambda *given: asked.append(given))
    cwm.synthesize("cat-dog", folder=tmp_path / "run", llm="scripted:none", games=1, values=2)
    ((_, settings, inputs, *_),) = asked
    assert (settings.joint, inputs.joint_info.id) == (True, "cat-dog")
    assert settings.value == JointConfig(num_candidates=2)


def test_what_a_worker_loads_knows_nothing_of_the_face(tmp_path: Path) -> None:
    assert not [name for name in CORE if name in ("cwm", "cwm.exported") or name.startswith("arena")]
    code = f"import importlib; [importlib.import_module(name) for name in {CORE!r}]; print(*sys.modules)"
    loaded = run_python(code, folder=tmp_path).stdout.split()
    assert set(CORE) <= set(loaded)
    assert not [name for name in loaded if name.split(".")[0] in ("arena", "numpy") or name == "cwm.exported"]


def test_a_submodule_is_imported_without_the_face(tmp_path: Path) -> None:
    code = "from cwm import llm; import cwm.storage.keys; print(llm.__name__, 'arena' in sys.modules)"
    assert run_python(code, folder=tmp_path).stdout == "cwm.llm False\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'cwm' has no attribute 'solve'$"):
        _ = cwm.solve  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'solve' from 'cwm'"):
        exec("from cwm import solve")
    assert not hasattr(cwm, "__wrapped__")


def test_no_name_of_the_face_is_a_package_or_a_module_of_cwm() -> None:
    taken = {path.stem for path in (ROOT / "cwm").rglob("*.py")} | {p.name for p in (ROOT / "cwm").rglob("*")}
    assert not taken & face.NAMES.keys()


def test_type_checkers_and_dir_see_the_names_of_the_face() -> None:
    stub = ast.parse((ROOT / "cwm" / "__init__.pyi").read_text(encoding="utf-8"))
    named = {
        alias.name: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert named == {name: f"{item.__module__}.{item.__qualname__}" for name, item in face.NAMES.items()}
    assert {*face.NAMES, "__version__"} <= {*dir(cwm)}


def test_every_name_of_the_face_is_documented() -> None:
    page = (ROOT / "arena" / "docs" / "LIBRARY.md").read_text(encoding="utf-8")
    for name, item in face.NAMES.items():
        assert item.__doc__, name
        assert f"`{name}`" in page or f"cwm.{name}" in page, name


def test_the_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == cwm.__version__
