"""`cwm verify`: stored games against the true rules, standings against the games, and games as files."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.figures.intervals import wilson
from arena.matches.store import FILE_NAME, STANDINGS_FILE
from games.extras import install

CUP = ["arena", "leduc_poker", "--agent", "random:name=a", "--agent", "random:name=b", "--deals", 3, "--workers", 1]


@pytest.fixture
def cup(cwm: Any, tmp_path: Path) -> Path:
    """Returns the folder of a finished tournament of 12 games."""
    folder = tmp_path / "cup"
    assert cwm(*CUP, "--run", folder).code == 0
    return folder


def change(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        database.execute(statement, values)
        database.commit()


def first_record(folder: Path) -> tuple[str, dict[str, Any]]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        key, record = database.execute("SELECT key, record FROM games ORDER BY key").fetchone()
    return str(key), json.loads(record)


def test_untouched_tournament_is_verified_and_gives_its_standings(cwm: Any, cup: Path) -> None:
    found = cwm("verify", cup, "--json")
    assert found.code == 0, found.err
    assert (found.json["games"], found.json["planned"], found.json["unfinished"]) == (12, 12, 0)
    assert (found.json["problems"], found.json["faults"]) == ([], {})
    assert found.json["standings"] == json.loads((cup / STANDINGS_FILE).read_text())
    assert "12 of 12 stored games agree with the true rules; 0 of 12 are still to be played" in cwm("verify", cup).out


def test_verifying_changes_no_file(cwm: Any, cup: Path) -> None:
    before = {path: path.read_bytes() for path in cup.iterdir()}
    assert cwm("verify", cup).code == 0
    assert {path: path.read_bytes() for path in before} == before


def swap_returns(record: dict[str, Any]) -> None:
    record["returns"] = [-value for value in record["returns"]]


def other_chance(record: dict[str, Any]) -> None:
    # The two private cards change places: every action stays legal.
    (_, one), (_, two) = record["actions"][:2]
    record["actions"][:2] = [[-1, two], [-1, one]]
    record["paid"] = record["returns"] = [-value for value in record["returns"]]


def other_seats(record: dict[str, Any]) -> None:
    record["seats"] = ["a", "somebody else"]


def other_length(record: dict[str, Any]) -> None:
    record["length"] += 1


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        (swap_returns, "but the rules give"),
        (other_chance, "but its seed gives"),
        (other_seats, "the seating of the record is a, somebody else"),
        (other_length, "length of leduc_poker"),
    ],
)
def test_changed_game_is_named_and_in_no_table(
    cwm: Any, cup: Path, tamper: Callable[[dict[str, Any]], None], named: str
) -> None:
    with closing(sqlite3.connect(cup / FILE_NAME)) as database:
        rows = [(key, json.loads(record)) for key, record in database.execute("SELECT key, record FROM games")]
    # A game that was won by cards which differ, so that swapping them changes who wins.
    key, record = next(
        (key, record)
        for key, record in rows
        if record["returns"][0] and record["actions"][0] != record["actions"][1] and "Fold" not in str(record)
    )
    tamper(record)
    change(cup, "UPDATE games SET record = ? WHERE key = ?", json.dumps(record), key)
    found = cwm("verify", cup, "--json")
    assert found.code == 1
    places = {problem["place"]: problem["message"] for problem in found.json["problems"]}
    assert named in places[key]
    assert set(places) == {key, STANDINGS_FILE}
    assert "NOT verified; problems: 2" in cwm("verify", cup).out


def test_game_that_nobody_planned_is_named(cwm: Any, cup: Path) -> None:
    change(cup, "UPDATE games SET key = 'made up' WHERE key = ?", first_record(cup)[0])
    found = cwm("verify", cup, "--json")
    assert found.code == 1
    assert found.json["problems"] == [{"place": "made up", "message": "no game of the plan has this key"}]
    assert found.json["unfinished"] == 1


def test_changed_standings_are_found_out(cwm: Any, cup: Path) -> None:
    standings = json.loads((cup / STANDINGS_FILE).read_text())
    standings["agents"][0]["name"] = "winner"
    (cup / STANDINGS_FILE).write_text(json.dumps(standings))
    found = cwm("verify", cup)
    assert found.code == 1
    assert "standings.json: the standings are not those that the stored games give" in found.err


def test_standings_of_before_the_deal_was_the_unit_of_wee_are_verified_and_no_others(cwm: Any, tmp_path: Path) -> None:
    folder = tmp_path / "partners"
    players = ("--agent", "partner:end-at-once,name=a", "--agent", "partner:end-at-once,name=b")
    assert cwm("arena", "yokai-8c-2p", *players, "--deals", 4, "--workers", 1, "--run", folder).code == 0
    standings = json.loads((folder / STANDINGS_FILE).read_text())
    (mixed,) = (found for found in standings["lineups"] if len({*found["lineup"]}) == 2)
    share = mixed["cooperation"]["won_given_early"]
    games = round(mixed["cooperation"]["early"]["mean"] * mixed["games"])
    assert share["n"] < games
    for claimed, code in ((share["mean"], 0), (1 - share["mean"], 1)):
        low, high = wilson(claimed * games, games)
        share |= {"mean": claimed, "low": low, "high": high, "n": games}
        (folder / STANDINGS_FILE).write_text(json.dumps(standings))
        assert cwm("verify", folder).code == code


def test_games_that_are_missing_are_counted_and_no_problem(cwm: Any, cup: Path) -> None:
    change(cup, "DELETE FROM games WHERE key = ?", first_record(cup)[0])
    found = cwm("verify", cup, "--json")
    assert (found.code, found.json["games"], found.json["unfinished"]) == (0, 11, 1)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda cup: (cup / FILE_NAME).write_bytes(b"no database" * 999), "it is damaged"),
        (lambda cup: change(cup, "UPDATE games SET record = '{'"), "a row of it is damaged"),
        (lambda cup: change(cup, "UPDATE games SET record = '{}'"), "a row of it is damaged"),
        (lambda cup: change(cup, "DELETE FROM meta"), "names no configuration"),
        (lambda cup: change(cup, "UPDATE meta SET value = '9' WHERE name = 'format'"), "has format 9"),
        (lambda cup: (cup / STANDINGS_FILE).write_text("{"), "standings.json is damaged"),
    ],
)
def test_damaged_file_of_games_is_one_sentence(
    refused: Any, cup: Path, damage: Callable[[Path], object], named: str
) -> None:
    damage(cup)
    ran = refused("verify", cup)
    assert ran.code == 4
    assert named in ran.err


def test_tournament_of_other_rules_is_refused(refused: Any, cup: Path) -> None:
    with closing(sqlite3.connect(cup / FILE_NAME)) as database:
        config = json.loads(database.execute("SELECT value FROM meta WHERE name = 'config'").fetchone()[0])
    change(cup, "UPDATE meta SET value = ? WHERE name = 'config'", json.dumps(config | {"version": 99}))
    ran = refused("verify", cup)
    assert (ran.code, "The tournament has version 99" in ran.err) == (2, True)


def test_folder_without_games_and_run_is_refused(refused: Any, tmp_path: Path) -> None:
    ran = refused("verify", tmp_path)
    assert (ran.code, "holds neither a tournament nor a run" in ran.err) == (2, True)


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_games_are_written_step_by_step_as_training_games(cwm: Any, cup: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    written = cwm("verify", cup, "--export", file)
    assert written.code == 0
    assert "12 games" in written.err
    assert cwm("trajectories", "from", cup, "-o", tmp_path / f"from-{name}").code == 0
    assert file.read_bytes() == (tmp_path / f"from-{name}").read_bytes()
    assert cwm("trajectories", "check", file).code == 0


def test_games_are_written_game_by_game_as_json(cwm: Any, cup: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.json"
    assert cwm("verify", cup, "--export", file).code == 0
    rows = json.loads(file.read_text())
    assert len(file.read_text().splitlines()) == 2 + len(rows)
    assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)
    key, record = first_record(cup)
    seconds = rows[0].pop("seconds")
    # Every row has every column.
    assert rows[0] == {"key": key, "accounts": {}, **record}
    assert [len(row) for row in seconds] == [sum(player == seat for player, _ in record["actions"]) for seat in (0, 1)]


@pytest.mark.extra("parquet")
def test_games_are_written_as_a_parquet_table(cwm: Any, cup: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "games.parquet"
    assert cwm("verify", cup, "--export", file).code == 0
    rows = parquet.read_table(file).to_pylist()
    key, record = first_record(cup)
    assert len(rows) == 12
    assert (rows[0]["key"], rows[0]["seats"], rows[0]["returns"]) == (key, record["seats"], record["returns"])
    assert json.loads(rows[0]["actions"]) == record["actions"]
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_parquet_without_its_library_is_one_sentence(
    refused: Any, cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ran = refused("verify", cup, "--export", tmp_path / "games.parquet")
    assert ran.code == 2
    assert f"need pyarrow, which is not installed: {install('parquet')}, or" in ran.err


def test_other_endings_are_refused(refused: Any, cup: Path, tmp_path: Path) -> None:
    ran = refused("verify", cup, "--export", tmp_path / "games.csv")
    assert (ran.code, "ends in .csv; games are written step by step as .jsonl or" in ran.err) == (2, True)


def test_run_without_matches_is_verified_and_has_nothing_to_export(
    cwm: Any, refused: Any, finished: Path, tmp_path: Path
) -> None:
    found = cwm("verify", finished, "--json")
    assert (found.code, found.json) == (0, {"problems": [], "games": 0})
    ran = refused("verify", finished, "--export", tmp_path / "games.jsonl")
    assert "holds no games that could be written" in ran.err


def other_program(run: Path) -> None:
    next((run / "programs").glob("*.py")).write_text("x = 1\n")


def other_request(run: Path) -> None:
    with closing(sqlite3.connect(run / "journal.sqlite")) as database:
        database.execute("UPDATE completions SET request = replace(request, 'You write', 'You read')")
        database.commit()


def other_training_game(run: Path) -> None:
    file = run / "inputs" / "train.jsonl"
    file.write_text(file.read_text().replace('"rewards": [1.0, -1.0]', '"rewards": [-1.0, 1.0]', 1))


def other_model(run: Path) -> None:
    result = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text(json.dumps(result | {"model": "0" * 64}))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (other_program, "its hash is not its name"),
        (other_request, "its key is not that of its request"),
        (other_training_game, "is not what the true rules make of its actions"),
        (other_model, "it names model 0000"),
    ],
)
def test_changed_part_of_a_run_is_named(
    cwm: Any, finished: Path, tmp_path: Path, damage: Callable[[Path], None], named: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    damage(run)
    found = cwm("verify", run, "--json")
    assert found.code == 1
    (problem,) = found.json["problems"]
    assert named in problem["message"]
