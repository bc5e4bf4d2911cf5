"""Trajectory files: what is written is read back, and every fault is named with its line and field."""

import json
from pathlib import Path

import pytest

from cwm.trajectories import files
from cwm.trajectories.recorded import Trajectory, TrajectoryFormatError, closed_deck, collect, game_seed, write
from games import registry


def recorded(game_id: str, games: int = 3, seed: int = 7) -> list[Trajectory]:
    return collect(registry.make(game_id), games, seed)


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "leduc_poker", "yokai-9c-2p"])
def test_written_games_are_read_back_equal(game_id: str, tmp_path: Path) -> None:
    games = recorded(game_id)
    write(tmp_path / "games.jsonl", games)
    assert files.read(tmp_path / "games.jsonl") == json_equal(games)


def json_equal(games: list[Trajectory]) -> list[Trajectory]:
    return games


def test_the_same_seed_gives_the_same_games_and_another_seed_others() -> None:
    assert recorded("leduc_poker") == recorded("leduc_poker")
    assert [game.steps for game in recorded("leduc_poker")] != [game.steps for game in recorded("leduc_poker", seed=8)]


def test_a_game_does_not_depend_on_how_many_are_played() -> None:
    assert recorded("kuhn_poker", games=5)[:2] == recorded("kuhn_poker", games=2)


def test_seeds_of_different_collections_do_not_meet() -> None:
    seeds = {game_seed(seed, index) for seed in range(20) for index in range(100)}
    assert len(seeds) == 2000


def rows(tmp_path: Path) -> list[dict[str, object]]:
    path = tmp_path / "games.jsonl"
    write(path, recorded("kuhn_poker", games=2))
    return [json.loads(line) for line in path.read_text().splitlines()]


def complaint(tmp_path: Path, lines: list[str]) -> str:
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(TrajectoryFormatError) as caught:
        files.read(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("rewards", [0.0], "line 3: field 'rewards' has 1 entries; expected 2"),
        ("player", 9, "line 3: field 'player' is 9, but 'rewards' has 2 entries"),
        ("player", "x", "line 3: field 'player' is \"x\"; expected a player's number"),
        ("version", 99, "line 3: field 'version' is 99; expected the number 1"),
        ("action", "jump", "line 3: field 'action' is \"jump\", which is not among 'legal_actions'"),
        ("legal_actions", ["Pass", "Pass", "Bet"], "line 3: field 'legal_actions' names an action twice"),
        ("state", 3, "line 3: field 'state' is 3; expected an object"),
        ("step", 7, "line 3: field 'step' is 7; expected 2"),
        ("observations", [{}], "line 3: field 'observations' has 1 entries; expected 2"),
        ("colour", 1, "line 3: unknown fields ['colour']"),
        ("chance", [["Pass", 1.0]], "line 3: field 'chance' must be empty where a player moves"),
        ("rewards", [10**400, 0.0], "line 3: field 'rewards' is [1000"),
        ("observations", [{"card": "\ud800"}, {}], "line 3: a text holds half of a surrogate pair"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(tmp_path: Path, field: str, value: object, expected: str) -> None:
    records = rows(tmp_path)
    records[2][field] = value
    assert expected in complaint(tmp_path, [json.dumps(record) for record in records])


def test_every_player_has_a_name_or_none_has(tmp_path: Path) -> None:
    records = rows(tmp_path)
    records[0]["player_names"] = ["North"]
    assert "line 1: field 'player_names' has 1 entries; expected 2" in complaint(
        tmp_path, list(map(json.dumps, records))
    )


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    records = rows(tmp_path)
    del records[1]["observations"]
    assert "line 2: field 'observations' is missing" in complaint(tmp_path, [json.dumps(r) for r in records])


def test_chance_that_does_not_sum_to_one_is_refused(tmp_path: Path) -> None:
    records = rows(tmp_path)
    records[0]["chance"] = [[action, 0.5] for action in records[0]["legal_actions"]]  # type: ignore[attr-defined]
    assert "they sum to 1.5" in complaint(tmp_path, [json.dumps(r) for r in records])


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    lines = [json.dumps(record) for record in rows(tmp_path)]
    assert "was the file cut?" in complaint(tmp_path, lines[:-1])


@pytest.mark.parametrize("line", ["{", "[1]", '{"rewards": [NaN]}', "[" * 100_000])
def test_a_line_that_is_no_json_object_is_named(tmp_path: Path, line: str) -> None:
    lines = [json.dumps(record) for record in rows(tmp_path)]
    assert "line 2:" in complaint(tmp_path, [lines[0], line, *lines[1:]])


def test_missing_and_empty_and_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryFormatError, match="cannot be read"):
        files.read(tmp_path / "absent.jsonl")
    assert "holds no step" in complaint(tmp_path, [""])
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TrajectoryFormatError, match="UTF-8"):
        files.read(tmp_path / "binary.jsonl")


def test_games_with_different_starts_are_refused(tmp_path: Path) -> None:
    records = rows(tmp_path)
    second = next(index for index, record in enumerate(records) if record["trajectory"] == 1)
    records[second]["state"] = {"other": True}
    assert f"line {second + 1}: field 'state' of a game's first step differs from line 1" in complaint(
        tmp_path, [json.dumps(r) for r in records]
    )


@pytest.mark.parametrize("game_id", ["tic_tac_toe", "connect_four", "kuhn_poker", "leduc_poker", "yokai-9c-2p"])
def test_inferred_info_agrees_with_the_game(game_id: str) -> None:
    game = registry.make(game_id)
    info = files.infer_info(collect(game, 20, 1))
    assert info.num_players == game.info.num_players
    assert info.perfect_information == game.info.perfect_information
    assert info.has_chance == game.info.has_chance
    assert info.utility == game.info.utility or game_id == "kuhn_poker"


def test_a_closed_deck_holds_nothing_but_the_players_own_part() -> None:
    trajectory = recorded("leduc_poker", games=1)[0]
    own = closed_deck(trajectory, 1)
    assert [action for _, action in own.decisions] == [s.action for s in trajectory.steps if s.player == 1]
    assert own.final_observation == trajectory.steps[-1].observations[1]
    assert own.total_reward == trajectory.returns[1]


def test_history_holds_the_players_own_decision_points() -> None:
    trajectory = recorded("leduc_poker", games=1)[0]
    ends = [index for index, step in enumerate(trajectory.steps) if step.player == 0]
    history = trajectory.history(0, ends[-1])
    assert [action for _, action in history[:-1]] == [trajectory.steps[end].action for end in ends[:-1]]
    assert history[-1] == (trajectory.steps[ends[-1]].observations[0], None)
