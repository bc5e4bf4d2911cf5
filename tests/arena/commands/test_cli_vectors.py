"""`cwm trajectories vectors`: observations as lists of floats, and whether they come back."""

from pathlib import Path
from typing import Any


def test_the_share_that_comes_back_is_reported(cwm: Any, tmp_path: Path) -> None:
    games, others = tmp_path / "games.jsonl", tmp_path / "others.jsonl"
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 20, "--output", games).code == 0
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 2, "--seed", 9, "--output", others).code == 0
    found = cwm("trajectories", "vectors", games, "--json").json
    assert (found["share"], found["changed"], found["errors"]) == (1.0, 0, {})
    assert "names" not in found
    ran = cwm("trajectories", "vectors", games, "--held-out", others, "--names")
    assert ran.code == 0
    assert "30 numbers a vector" in ran.out
    assert "of 20 games" in ran.out
    assert "0: .board[0]=." in ran.out
    assert "29: .current_player=x" in ran.out


def test_what_does_not_fit_is_counted_by_its_error(cwm: Any, tmp_path: Path) -> None:
    games, others = tmp_path / "games.jsonl", tmp_path / "others.jsonl"
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 5, "--output", games).code == 0
    assert cwm("trajectories", "record", "kuhn_poker", "--games", 2, "--output", others).code == 0
    ran = cwm("trajectories", "vectors", games, "--held-out", others)
    assert ran.code == 0
    assert "0 of" in ran.out
    assert "refused: UnseenStructureError" in ran.out
    assert "which no sample has" in ran.out


def test_one_game_alone_leaves_none_to_hold_out(cwm: Any, refused: Any, tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    assert cwm("trajectories", "record", "kuhn_poker", "--games", 1, "--output", games).code == 0
    assert "holds one game" in refused("trajectories", "vectors", games).err


def test_a_stored_schema_is_tried_on_other_games(cwm: Any, refused: Any, tmp_path: Path) -> None:
    games, others, schema = tmp_path / "games.jsonl", tmp_path / "others.jsonl", tmp_path / "schema.json"
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 20, "--output", games).code == 0
    assert cwm("trajectories", "record", "tic_tac_toe", "--games", 2, "--seed", 9, "--output", others).code == 0
    made = cwm("trajectories", "vectors", games, "--held-out", others, "--output", schema, "--json").json
    found = cwm("trajectories", "vectors", others, "--schema", schema, "--json").json
    assert found == made | {"samples": 0}
    assert f"30 numbers a vector, as in {schema}" in cwm("trajectories", "vectors", others, "--schema", schema).out
    assert "leave out --held-out" in refused("trajectories", "vectors", others, "--schema", schema, "-o", games).err
    schema.write_text(schema.read_text().replace('"width": 30', '"width": 31'))
    ran = refused("trajectories", "vectors", others, "--schema", schema)
    assert ran.code == 2
    assert "width is 31, expected was 30, as the parts have it" in ran.err


def test_registered_games_are_measured_each_on_games_of_its_own(cwm: Any, refused: Any) -> None:
    words = ["games", "vectors", "tic_tac_toe", "kuhn_poker", "--samples", 20, "--held-out", 3]
    found = cwm(*words, "--json").json
    assert list(found) == ["tic_tac_toe", "kuhn_poker"]
    assert (found["tic_tac_toe"]["width"], found["tic_tac_toe"]["share"]) == (30, 1.0)
    assert "kuhn_poker" in cwm(*words).out
    assert "There is no game 'tic_tac'" in refused("games", "vectors", "tic_tac").err


def test_vectors_of_the_closed_deck_come_from_one_view_of_each_game(cwm: Any, tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    assert cwm("trajectories", "record", "kuhn_poker", "--games", 20, "--output", games).code == 0
    everybody = cwm("trajectories", "vectors", games, "--json").json
    one = cwm("trajectories", "vectors", games, "--deck", "closed", "--json").json
    assert one["samples"] < everybody["samples"] / 2
