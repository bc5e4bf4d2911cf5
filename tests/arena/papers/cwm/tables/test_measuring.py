"""Figures of several syntheses, of value functions, of trained agents, and of recorded games with a language model."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.figures.intervals import clustered_rate
from arena.matches.match import GameRecord
from arena.matches.store import GameStore
from arena.papers.cwm.published.layout import FIGURE_BY_NUMBER, TABLE_BY_NUMBER
from arena.papers.cwm.tables import measuring, sheets
from arena.papers.cwm.tables.measuring import Stored
from arena.papers.cwm.tables.places import LEARNED, Place
from arena.papers.cwm.tables.settings import PaperWishes
from cwm.model.bundle import ModelBundle

Build = Callable[..., GameRecord]


@pytest.fixture
def two(rebuilt: Path, tmp_path: Path) -> Path:
    """Returns a folder with two syntheses of tic_tac_toe, the second one worse and after more calls."""
    for seed in (0, 1):
        shutil.copytree(rebuilt / "tic_tac_toe" / "tree-s0", tmp_path / "tic_tac_toe" / f"tree-s{seed}")
    worse = tmp_path / "tic_tac_toe" / "tree-s1"
    result = json.loads((worse / "result.json").read_text(encoding="utf-8"))
    result["synthesis"]["calls"] = 4
    (worse / "result.json").write_text(json.dumps(result), encoding="utf-8")
    with sqlite3.connect(worse / "test" / "journal.sqlite") as database:
        ((text,),) = database.execute("SELECT payload FROM evaluations WHERE key = 'figures'").fetchall()
        figures = json.loads(text)
        figures["kinds"]["transition"] |= {"passed": 3, "wrong": 1}
        database.execute("UPDATE evaluations SET payload = ? WHERE key = 'figures'", (json.dumps(figures),))
    database.close()
    return tmp_path


def test_accuracy_and_calls_are_means_over_syntheses(two: Path) -> None:
    stored = Stored(two, PaperWishes(("tic_tac_toe",), seeds=(0, 1)))
    found = stored.accuracy("tic_tac_toe", "tree", "transition", "test")
    assert (found.value, found.n, found.unit) == (pytest.approx(0.875), 2, "syntheses")
    assert (found.low, found.high) == (0.0, 1.0)
    calls = stored.calls("tic_tac_toe", "tree")
    assert (calls.value, calls.n) == (2.5, 2)
    assert calls.sources == tuple(f"tic_tac_toe/tree-s{seed}/result.json#synthesis.calls" for seed in (0, 1))


def test_syntheses_that_all_pass_are_no_surer_than_one(two: Path) -> None:
    one = Stored(two, PaperWishes(("tic_tac_toe",))).accuracy("tic_tac_toe", "tree", "transition", "train")
    both = Stored(two, PaperWishes(("tic_tac_toe",), seeds=(0, 1))).accuracy(
        "tic_tac_toe", "tree", "transition", "train"
    )
    assert (both.value, both.low, both.high, both.unit) == (1.0, one.low, one.high, "tests")
    assert len(both.sources) == 2


def test_matches_of_all_syntheses_count_together(two: Path) -> None:
    one = Stored(two, PaperWishes(("tic_tac_toe",))).played("tic_tac_toe", "tree", "random")
    both = Stored(two, PaperWishes(("tic_tac_toe",), seeds=(0, 1))).played("tic_tac_toe", "tree", "random")
    assert [len(group) for group in one.seated(0)] == [2]
    assert [len(group) for group in both.seated(0)] == [2, 2]
    assert len(both.sources) == 2


def test_interval_over_syntheses_is_that_of_their_groups(two: Path) -> None:
    stored = Stored(two, PaperWishes(("tic_tac_toe",), seeds=(0, 1)))
    both = stored.played("tic_tac_toe", "tree", "random")
    won, lost = (
        tuple(replace(record, returns=returns) for record in both.seated(0)[0])
        for returns in ((1.0, -1.0), (-1.0, 1.0))
    )
    apart = stored.figure_of(replace(both, groups=(won, lost)), 0, "win")
    expected = clustered_rate([[1.0, 1.0], [0.0, 0.0]])
    assert expected is not None
    assert (apart.value, apart.low, apart.high, apart.n) == (0.5, expected.low, expected.high, 4)
    # The same four matches, each synthesis having won one.
    mixed = stored.figure_of(replace(both, groups=((won[0], *lost[1:]), (*won[1:], lost[0]))), 0, "win")
    assert (mixed.value, mixed.n) == (0.5, 4)
    assert (apart.low or 0) < (mixed.low or 0) < (mixed.high or 0) < (apart.high or 0)


def test_curves_of_several_syntheses_are_told_apart(two: Path) -> None:
    stored = Stored(two, PaperWishes(("tic_tac_toe",), seeds=(0, 1)))
    rows = sheets.figure(stored, FIGURE_BY_NUMBER[6]).rows
    assert {row.labels[1] for row in rows} == {"0", "1"}


def test_synthesis_that_is_not_finished_is_said_to_be_so(tmp_path: Path) -> None:
    stored = Stored(tmp_path, PaperWishes(("tic_tac_toe",)))
    assert stored.accuracy("tic_tac_toe", "tree", "transition", "test").state == "not finished"
    assert stored.calls("tic_tac_toe", "tree").state == "not finished"


def test_model_that_was_not_tested_is_said_to_be_so(two: Path) -> None:
    shutil.rmtree(two / "tic_tac_toe" / "tree-s0" / "test")
    stored = Stored(two, PaperWishes(("tic_tac_toe",)))
    assert stored.accuracy("tic_tac_toe", "tree", "transition", "test").state == "not tested"
    assert stored.accuracy("tic_tac_toe", "tree", "transition", "train").value == 1.0


def test_games_of_a_trained_agent_fill_its_tables(two: Path, record: Build) -> None:
    place = Place(two, "tic_tac_toe", "tree", 0)
    with GameStore(place.part(LEARNED), {}) as kept:
        for number, (seats, returns) in enumerate(
            [("learned cwm", [1.0, -1.0]), ("learned cwm", [0.0, 0.0]), ("cwm learned", [1.0, -1.0])]
        ):
            kept.add(str(number), record(seats, returns, number))
    stored = Stored(two, PaperWishes(("tic_tac_toe",)))
    layout = TABLE_BY_NUMBER[18]
    assert stored.result(layout, "tic_tac_toe", 0, "planner.win").value == 0.5
    assert stored.result(layout, "tic_tac_toe", 0, "planner.draws").words == "1"
    assert stored.result(layout, "tic_tac_toe", 1, "planner.loss").value == 1.0
    assert stored.result(layout, "tic_tac_toe", 0, "random.win").state == "not trained"


def test_recorded_games_with_a_language_model_count(two: Path, record: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    games = [record("cwm llm", [1.0, -1.0]), record("cwm llm", [-1.0, 1.0])]
    named = [GameRecord.from_json(game.to_json() | {"accounts": {"1": {"models": ["somebody"]}}}) for game in games]
    monkeypatch.setattr("arena.matches.recorded_games.games", lambda game: named)
    stored = Stored(two, PaperWishes(("tic_tac_toe",)))
    found = stored.result(TABLE_BY_NUMBER[7], "tic_tac_toe", 0, "llm.win")
    assert (found.value, found.n) == (0.5, 2)
    assert found.sources == ("recordings/players/tic_tac_toe.jsonl#cwm at seat 0, llm",)
    assert stored.language_models("tic_tac_toe", "tree") == {"somebody"}
    assert stored.language_models("tic_tac_toe", "conversation") == set()


def with_value_source(two: Path, source: str | None) -> Place:
    place = Place(two, "tic_tac_toe", "tree", 0)
    bundle = ModelBundle.load(place.folder)
    made: dict[str, Any] = {name: getattr(bundle, name) for name in ModelBundle.__dataclass_fields__}
    shutil.rmtree(place.folder / "model")
    ModelBundle(**made | {"value_source": source}).save(place.folder / "model")
    return place


def test_model_without_a_value_function_stands_in_the_column_without(two: Path) -> None:
    assert not measuring.has_value_function(with_value_source(two, None))
    stored = Stored(two, PaperWishes(("tic_tac_toe",)))
    assert stored.without_value("tic_tac_toe", "tree", "random").seated(0)
    assert not stored.with_value("tic_tac_toe", "tree", "random").seated(0)


def test_model_with_a_value_function_needs_matches_without(two: Path) -> None:
    place = with_value_source(two, "def value_function(state, player):\n    return 0.0\n")
    shutil.rmtree(place.folder / "without-value", ignore_errors=True)
    assert measuring.has_value_function(place)
    stored = Stored(two, PaperWishes(("tic_tac_toe",)))
    assert not stored.without_value("tic_tac_toe", "tree", "random").seated(0)
    assert stored.with_value("tic_tac_toe", "tree", "random").seated(0)
