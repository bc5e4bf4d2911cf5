"""The tables of the paper on language models in Hanabi: its cells, and games of ours in the rows where they belong."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.papers.hanabi.published.cells import TABLES
from arena.papers.hanabi.tables import beside, own_games
from arena.papers.hanabi.tables.own_games import OwnGame, SeatSetting

BY_NAME = {table.name: table for table in TABLES}
O3 = SeatSetting("o3", "watson")


def game(seat: SeatSetting, column: str = "2p", deal: int = 1, points: float | None = 10.0) -> OwnGame:
    """Returns a game of two players of one kind, lost by a third bomb."""
    return OwnGame(column, (seat, seat), deal, points, 0.0)


def ours(name: str, *games: OwnGame) -> list[tuple[Any, ...]]:
    """Returns the rows of ours in a table."""
    (sheet,) = beside.sheets(games, [name])
    return [row for row in sheet.rows if row[1] == beside.OURS]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_names_its_place_and_has_a_cell_for_every_column(table: Any) -> None:
    assert table.source
    assert table.errata
    for line in table.rows:
        assert len(line.cells) == len(table.columns)
        assert line.remark or any(cell is not None for cell in line.cells)


def test_cells_are_those_that_were_read() -> None:
    watson = {line.label: line.cells for line in BY_NAME["watson"].rows}
    assert len(watson) == len(BY_NAME["sherlock"].rows) == 17
    assert watson["o3"] == (15.9, 15.3, 16.4, 13.9)
    best = [max(cells) for cells in zip(*(line.cells for line in BY_NAME["sherlock"].rows), strict=True)]
    assert best == [17.6, 18.0, 17.4, 15.7]
    mycroft = {line.label: line.cells for line in BY_NAME["mycroft"].rows}
    assert sum(mycroft["o3"]) / 4 == pytest.approx(15.7, abs=0.05)
    simple = next(line for line in BY_NAME["baselines"].rows if line.bot == "simple")
    assert simple.cells == (16.92, 18.48, 19.32, 18.50)


def test_every_scaffold_and_bot_beside_a_row_is_one_of_ours() -> None:
    lines = [line for table in TABLES for line in table.rows]
    assert {line.scaffold for line in lines} - {None} == {
        "watson",
        "spin",
        "spin-told",
        "spin-told-nodiscard",
        "sherlock",
    }
    assert {line.bot for line in lines} - {None} == {"blind", "simple", "value", "hat", "iggi", "piers"}


def test_what_nobody_recorded_is_said() -> None:
    assert ours("watson") == [("–", "ours", "points, strict", *["not recorded"] * 4)]
    assert ours("baselines") == []


def test_points_stand_beside_strict_with_the_games_and_the_forfeits_apart() -> None:
    played = [game(O3, deal=1), game(O3, deal=2, points=12.0), game(O3, deal=3, points=None)]
    points, strict = ours("watson", *played)
    assert points[:3] == ("o3, watson", "ours", "points")
    assert points[3] == "11.00 ± 12.71 (2, 1 forfeited)"
    assert strict[3] == "0.00 ± 0.00 (3)"
    assert points[4] == "not recorded"


@pytest.mark.parametrize(
    ("seat", "table"),
    [
        (replace(O3, k=5), "best-of-k"),
        (replace(O3, mixture=True, k=5), "mixture"),
        (replace(O3, scaffold="mycroft"), "mycroft"),
        (SeatSetting("gt"), "baselines"),
    ],
)
def test_a_game_stands_in_the_one_table_of_its_setting(seat: SeatSetting, table: str) -> None:
    found = [name for name in BY_NAME if ours(name, game(seat))[0:1] and ours(name, game(seat))[0][0] == seat.words]
    assert found == [table]


def test_a_setting_of_ours_alone_has_a_table_of_its_own() -> None:
    found = beside.sheets([game(replace(O3, scaffold="exact"))])
    assert found[-1].title == beside.FURTHER
    assert found[-1].rows[0][0] == "o3, exact"
    assert len(beside.sheets([game(O3)])) == len(found) - 1


def test_strangers_at_a_table_stand_in_cross_play_and_prompts_below_theirs() -> None:
    mixed = OwnGame("3p", (O3, O3, replace(O3, label="o4")), 1, 8.0, 8.0)
    assert ours("cross-play", mixed)[0][0] == "o3, watson + o3, watson + o4, watson"
    (sheet,) = beside.sheets([game(replace(O3, scaffold="spin"), "5p")], ["prompts"])
    assert [row[0] for row in sheet.rows][:4] == ["Watson", "–", "SPIN-Bench", "o3, spin"]


def test_bots_play_named_decks_and_stored_games_are_told_apart(cwm: Any, tmp_path: Path) -> None:
    plans = own_games.bot_plans(["hle:1"])
    assert [len(plan.agents) for plan in plans.values()] == [6, 7, 7, 7]
    simple = [one for one in own_games.bots({"2p": plans["2p"]}) if one.seats[0].bot == "simple"]
    assert [one.column for one in simple] == ["2p"]
    cwm("arena", "hanabi-2p", "--agent", "partner:simple", "--deck", "hle:1", "--run", tmp_path / "a")
    (kept,) = own_games.stored(tmp_path)
    assert (kept.points, kept.seats[0].label, kept.deal) == (simple[0].points, "partner:simple, stored", simple[0].deal)
    told = json.loads(cwm("paper", "--paper", "hanabi", "--tables", "watson", "--json").out)
    first = told["tables"][0]["rows"][0]
    assert list(first) == ["player", "whose", "scoring", "2p", "3p", "4p", "5p"]
    assert list(first.values()) == ["Mistral Medium 3", "paper", "points", "2.2", "1.9", "1.7", "1.2"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--paper", "chess"], "--paper is 'chess': it is one of cwm, hanabi, overcooked, posggym."),
        (["--paper", "hanabi", "--games", "go"], "leave out the other options"),
        (["--paper", "hanabi", "--tables", "7"], "--tables names '7'"),
        (["--paper", "hanabi", "--deck", "go:1"], "There is no deck 'go:1'"),
        (["--deck", "hle:1"], "--deck is of --paper hanabi"),
    ],
)
def test_bad_wishes_are_one_sentence(refused: Any, words: list[str], named: str) -> None:
    ran = refused("paper", *words)
    assert ran.code == 2
    assert named in ran.err


def test_tables_are_written_as_text(cwm: Any, tmp_path: Path) -> None:
    cwm("paper", "--paper", "hanabi", "--tables", "mycroft", "--output", tmp_path / "new")
    text = (tmp_path / "new" / "hanabi.md").read_text(encoding="utf-8")
    assert "| o3 | paper | points | 16.3 | 16.4 | 15.5 | 14.7 |" in text
    assert "not recorded" in text
