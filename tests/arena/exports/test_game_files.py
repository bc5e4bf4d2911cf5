"""Stored games as files for other programs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arena.exports import game_files
from arena.matches.match import GameRecord

GAME = GameRecord(
    "leduc_poker", 3, ("a", "b"), (), (1.0, -1.0), (1.0, -1.0), None, None, 0, ({}, {}), ({}, {}), None, ()
)
THOUGHT = {"1": {"moves": [{"action": "Call", "visits": 3}]}}


def test_what_was_considered_is_a_field_of_the_games_that_kept_it_alone(tmp_path: Path) -> None:
    place = tmp_path / "games.json"
    game_files.write(place, {"plain": GAME, "told": replace(GAME, thoughts=THOUGHT)})
    plain, told = json.loads(place.read_text(encoding="utf-8"))
    assert told.pop("thoughts") == THOUGHT
    assert plain | {"key": ""} == told | {"key": ""}


@pytest.mark.extra("parquet")
def test_a_table_has_its_column_only_if_some_game_kept_it(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    game_files.write(tmp_path / "plain.parquet", {"plain": GAME})
    game_files.write(tmp_path / "told.parquet", {"plain": GAME, "told": replace(GAME, thoughts=THOUGHT)})
    assert "thoughts" not in parquet.read_table(tmp_path / "plain.parquet").column_names
    column = parquet.read_table(tmp_path / "told.parquet")["thoughts"].to_pylist()
    assert column == [None, json.dumps(THOUGHT, sort_keys=True)]
