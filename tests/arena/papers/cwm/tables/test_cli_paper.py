import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from arena.matches.match import GameRecord
from arena.matches.store import GameStore
from arena.papers.cwm.tables import syntheses
from arena.papers.cwm.tables.places import Place
from arena.papers.cwm.tables.settings import PaperWishes
from arena.runs.replayed import header_settings
from arena.runs.settings import RunSettings
from arena.runs.standard import by_way
from cwm.llm.api import LanguageModelError
from cwm.llm.recordings import Header, Recording

SMALL = (
    *("--simulations", "4", "--rollouts", "1", "--matches", "2", "--transitions", "30"),
    *("--seeds", "0", "--workers", "1"),
)


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (["--games", "chess"], 2, "--games names 'chess'"),
        (["--tables", "17"], 2, "--tables names '17'"),
        (["--figures", "5"], 2, "--figures names '5'"),
        (["--seeds", "-1"], 2, "--seeds names '-1'"),
        (["--max-calls", "3"], 2, "Without --llm nothing is asked live"),
        (["--temperature", "1"], 2, "leave out caps, prices, --temperature, --reasoning-effort and "),
        (["--tournament-budget", "5"], 2, "--tournament-budget"),
        (["--paper-setting", "--matches", "3"], 2, "--paper-setting is the paper's own numbers"),
        (["--llm", "nobody:x"], 3, "nobody"),
    ],
)
def test_bad_input_is_one_sentence_and_makes_no_folder(
    refused: Any, tmp_path: Path, words: list[str], code: int, named: str
) -> None:
    ran = refused("paper", *words, "--run", tmp_path / "run")
    assert ran.code == code
    assert named in ran.err
    assert not (tmp_path / "run").exists()


def test_killed_rebuilding_goes_on_and_comes_to_the_same(
    cwm: Any, rebuilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ("--games", "tic_tac_toe", "--tables", "4,7", "--run", tmp_path)
    stored: list[str] = []
    add = GameStore.add

    def killed(self: GameStore, key: str, record: GameRecord) -> None:
        if len(stored) == 5:
            raise KeyboardInterrupt
        add(self, key, record)
        stored.append(key)

    with monkeypatch.context() as patch:
        patch.setattr(GameStore, "add", killed)
        ran = cwm("paper", *chosen, *SMALL)
    assert ran.code == 130
    assert f"`cwm paper --run {tmp_path}` goes on" in ran.err
    ran = cwm("paper", "--run", tmp_path, "--tables", "4,7", "--workers", "1")
    assert ran.code == 0
    for name in ("table-4.csv", "table-7.csv"):
        assert (tmp_path / "tables" / name).read_bytes() == (rebuilt / "tables" / name).read_bytes()


def test_other_settings_in_the_same_folder_are_refused(refused: Any, rebuilt: Path) -> None:
    ran = refused("paper", "--run", rebuilt, "--matches", "3")
    assert ran.code == 2
    assert "was begun with other settings" in ran.err


def test_tables_go_where_they_are_asked_for(cwm: Any, rebuilt: Path, tmp_path: Path) -> None:
    assert cwm("paper", "--run", rebuilt, "--tables", "4", "--output", tmp_path / "out").code == 0
    assert {path.name for path in (tmp_path / "out" / "tables").iterdir()} == {
        *("table-4.txt", "table-4.csv", "table-4.tex", "tables.json"),
    }
    assert (tmp_path / "out" / "report.html").exists()


def test_synthesis_that_was_not_recorded_is_said_to_be_so(
    cwm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cwm.llm.recordings.bundled_names", list)
    ran = cwm("paper", "--games", "gin_rummy", "--tables", "2,12", "--run", tmp_path, "--json")
    assert ran.code == 0
    states = {cell["ours"]["state"] for sheet in ran.json for cell in sheet["cells"]}
    assert states == {"not recorded"}
    assert {cell["paper"]["value"] for cell in ran.json[0]["cells"]} == {0.06215, 0.10397, 0.53953, 467.2}


def test_agents_that_nobody_trained_stand_beside_the_papers(cwm: Any, tmp_path: Path) -> None:
    ran = cwm("paper", "--games", "backgammon", "--tables", "18", "--run", tmp_path, "--json")
    assert ran.code == 0
    cells = {(cell["goes"], cell["column"]): cell for cell in ran.json[0]["cells"]}
    assert cells["first", "planner.loss"]["paper"]["value"] == 0.99
    assert {cell["ours"]["state"] for cell in cells.values()} == {"not trained"}


def test_the_papers_own_setting_is_kept_in_the_folder(cwm: Any, tmp_path: Path) -> None:
    ran = cwm("paper", "--games", "bargaining", "--tables", "20", "--paper-setting", "--run", tmp_path)
    assert ran.code == 0
    kept = json.loads((tmp_path / "paper.json").read_text(encoding="utf-8"))
    assert kept["scale"] == {"simulations": 1000, "rollouts": 10, "deals": 100, "transitions": 10_000}


def test_live_model_is_asked_for_the_synthesis_and_for_value_functions(
    cwm: Any, right_program: str, tmp_path: Path
) -> None:
    model = script(tmp_path / "s.jsonl", f"```python\n{right_program}\n```", "no function", "nor here")
    chosen = ("--games", "tic_tac_toe", "--tables", "4", "--llm", model, "--run", tmp_path)
    ran = cwm("paper", *chosen, *SMALL, "--tournament-budget", 5, "--json")
    assert ran.code == 0
    cells = {cell["column"]: cell["ours"] for cell in ran.json[0]["cells"]}
    assert cells["calls"]["value"] == 1.0
    assert cells["transition.test"]["value"] == 1.0
    kept = json.loads((tmp_path / "paper.json").read_text(encoding="utf-8"))
    assert (kept["llm"], kept["tournament_budget"]) == (model, 5.0)
    result = json.loads((tmp_path / "tic_tac_toe" / "tree-s0" / "result.json").read_text(encoding="utf-8"))
    assert [item["status"] for item in result["values"]["candidates"]] == ["no_program", "no_program"]


@pytest.mark.parametrize(
    ("variant", "named", "inference", "deck", "method"),
    [
        ("tree", "leduc_poker", "history", "open", "tree_search"),
        ("state", "leduc_poker+state", "state", "open", "tree_search"),
        ("closed", "leduc_poker+closed", "history", "closed", "tree_search"),
        ("conversation", "leduc_poker+conversation", "history", "open", "conversation"),
    ],
)
def test_recordings_are_found_by_name(
    monkeypatch: pytest.MonkeyPatch, variant: Any, named: str, inference: str, deck: str, method: str
) -> None:
    monkeypatch.setattr("cwm.llm.recordings.bundled_names", lambda: [named, f"{named}-s3"])
    made = RunSettings("leduc_poker", True, seed=3)
    made = made if variant == "tree" else by_way(made, variant)
    header = Header("leduc_poker", "", header_settings(made))
    monkeypatch.setattr("cwm.llm.recordings.load", lambda name: Recording(name, header, ()))
    asked = PaperWishes(("leduc_poker",))
    found = syntheses.settings_of("leduc_poker", variant, 3, asked)
    assert found is not None
    assert (found.recorded, found.inference, found.deck, found.synthesis.method) == (named, inference, deck, method)
    assert syntheses.settings_of("leduc_poker", variant, 2, asked) is None


def script(path: Path, *answers: str) -> str:
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers), encoding="utf-8")
    return f"scripted:{path}"


CELLS = [json.dumps({"move": [row, column]}) for row in range(3) for column in range(3)]


def test_live_model_plays_and_its_forfeits_are_counted(cwm: Any, right_program: str, tmp_path: Path) -> None:
    # The synthesis takes the first answers, of which two hold no value function; a game begins the script anew, whose
    # program is no move.
    model = script(tmp_path / "s.jsonl", f"```python\n{right_program}\n```", *CELLS)
    chosen = ("--games", "tic_tac_toe", "--tables", "7", "--llm", model, "--player-deals", "1")
    ran = cwm("paper", *chosen, *SMALL, "--run", tmp_path / "run", "--json")
    assert ran.code == 0
    cells = {(cell["goes"], cell["column"]): cell["ours"] for cell in ran.json[0]["cells"]}
    both = [cells[seat, f"llm.{figure}"]["words"] for seat in ("first", "second") for figure in FORFEITS]
    # In one seat it names a cell that is taken, in the other it loses by the rules.
    assert sorted(both) == ["0/0", "0/0", "0/1", "1/1"]
    assert any("Our language model at the table: scripted:" in note for note in ran.json[0]["notes"])


FORFEITS = ("win_forfeits", "loss_forfeits")


def test_syntheses_that_share_deals_play_when_all_are_made(
    cwm: Any, right_program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = script(tmp_path / "s.jsonl", f"```python\n{right_program}\n```", *CELLS)
    chosen = ("--games", "tic_tac_toe", "--tables", "7", "--llm", model, "--player-deals", "2", "--workers", "1")
    small = ("--simulations", "2", "--rollouts", "1", "--matches", "2", "--transitions", "30", "--seeds", "0,1")
    run = syntheses.run

    def unanswered(place: Place, *words: Any) -> None:
        if place.seed == 1:
            raise LanguageModelError("nobody answers")
        run(place, *words)

    with monkeypatch.context() as patch:
        patch.setattr(syntheses, "run", unanswered)
        ran = cwm("paper", *chosen, *small, "--run", tmp_path / "run", "--json")
    assert ran.code == 3
    assert "seed 1: nobody answers" in ran.err
    assert {cell["ours"]["state"] for cell in ran.json[0]["cells"]} == {"not played"}
    ran = cwm("paper", "--tables", "7", "--run", tmp_path / "run", "--workers", "1", "--json")
    assert ran.code == 0
    played = {cell["ours"]["n"] for cell in ran.json[0]["cells"] if cell["column"] == "random.win"}
    assert played == {2}


def test_live_model_whose_answers_run_out_leaves_what_was_finished(
    cwm: Any, right_program: str, tmp_path: Path
) -> None:
    # The synthesis takes all three: two value functions are asked for. A game begins the script anew.
    model = script(tmp_path / "s.jsonl", f"```python\n{right_program}\n```", *CELLS[:2])
    chosen = ("--games", "tic_tac_toe", "--tables", "7", "--llm", model, "--player-deals", "1")
    ran = cwm("paper", *chosen, *SMALL, "--run", tmp_path / "run", "--json")
    assert ran.code == 4
    assert "error: Tic-tac-toe: 1 matches could not be played (language model: " in ran.err
    assert f"`cwm paper --run {tmp_path / 'run'}` goes on" in ran.err
    states = {cell["column"]: cell["ours"]["state"] for cell in ran.json[0]["cells"] if cell["goes"] == "first"}
    assert states["random.win"] == "measured"


def test_everything_behind_the_tables_is_verified(cwm: Any, rebuilt: Path) -> None:
    found = cwm("verify", rebuilt, "--json").json
    assert found["syntheses"] >= 2
    assert found["tournaments"] >= 2
    assert found["games"] == 8 * found["tournaments"]
    assert found["problems"] == []


def test_changed_match_behind_a_table_is_found(cwm: Any, rebuilt: Path, tmp_path: Path) -> None:
    shutil.copytree(rebuilt, tmp_path / "run")
    place = tmp_path / "run" / "tic_tac_toe" / "tree-s0" / "matches"
    with sqlite3.connect(place / "games.sqlite") as database:
        database.execute("UPDATE games SET record = replace(record, '\"returns\":[', '\"returns\":[7.0,')")
    database.close()
    ran = cwm("verify", tmp_path / "run")
    assert ran.code == 1
    assert "tic_tac_toe/tree-s0/matches: " in ran.err
    assert "NOT verified" in ran.out


def test_tables_are_gone_on_with_by_their_own_command(refused: Any, rebuilt: Path) -> None:
    assert f"`cwm paper --run {rebuilt}` goes on with them" in refused("resume", rebuilt).err


@pytest.mark.parametrize(("game", "variant", "asked"), [("mnk", "tree", True), ("leduc_poker", "closed", False)])
def test_value_functions_are_asked_for_where_they_were_recorded(game: str, variant: Any, asked: bool) -> None:
    found = syntheses.settings_of(game, variant, 0, PaperWishes((game,)))
    assert found is not None
    assert (found.value is not None) == asked
