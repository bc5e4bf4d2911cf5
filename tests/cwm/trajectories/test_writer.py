"""Games of a user's own script, written step by step."""

import gzip
from pathlib import Path

import pytest

from cwm.trajectories import files
from cwm.trajectories.recorded import TrajectoryFormatError, collect, write
from cwm.trajectories.writer import TrajectoryWriter
from games import registry

NAMES = ["caller", "tosser"]
FACES = [("heads", 0.5), ("tails", 0.5)]


def toss(games: TrajectoryWriter, coin: str, call: str) -> None:
    """A game of hidden information: the tosser alone sees the coin before it is called."""
    hidden, shown = {"coin": "?"}, {"coin": coin}
    games.chance({"coin": None}, [{}, {}], FACES, coin)
    games.move(shown, 0, [hidden, shown], ["heads", "tails"], call)
    games.end(shown, [shown, shown], [1, -1] if call == coin else [-1, 1])


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_what_a_script_plays_is_read_as_it_was(tmp_path: Path, name: str) -> None:
    with TrajectoryWriter(tmp_path / name, "coin", NAMES) as games:
        toss(games, "heads", "tails")
        toss(games, "tails", "tails")
    first, second = files.read(tmp_path / name)
    assert (first.game, first.player_names, first.returns, second.returns) == (
        "coin",
        ("caller", "tosser"),
        [-1, 1],
        [1, -1],
    )
    assert [step.player for step in first.steps] == [-1, 0, -4]
    assert first.history(0, 1) == [({"coin": "?"}, None)]
    assert files.infer_info([first, second], None).perfect_information is False


def test_a_state_that_the_script_goes_on_with_is_kept_as_it_was(tmp_path: Path) -> None:
    state = {"heap": 1}
    with TrajectoryWriter(tmp_path / "g.jsonl", "heap", NAMES) as games:
        games.move(state, 0, [state, state], ["take"], "take")
        state["heap"] = 0
        games.end(state, [state, state], [1, -1])
    assert [step.state for step in files.read(tmp_path / "g.jsonl")[0].steps] == [{"heap": 1}, {"heap": 0}]


def test_a_step_that_breaks_the_format_is_named_when_its_game_ends_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    games = TrajectoryWriter(path, "coin", NAMES)
    toss(games, "heads", "tails")
    games.move({"coin": None}, 0, [{}, {}], ["heads"], "edge")
    with pytest.raises(TrajectoryFormatError, match=r"Game 1 of .*g\.jsonl breaks the format .*: step 1: .*edge"):
        games.end({}, [{}, {}])
    assert not path.exists()


def test_a_game_that_was_not_ended_writes_nothing(tmp_path: Path) -> None:
    games = TrajectoryWriter(tmp_path / "g.jsonl", "coin", NAMES)
    games.chance({"coin": None}, [{}, {}], FACES, "heads")
    with pytest.raises(TrajectoryFormatError, match=r"Game 0 of .* was not ended"):
        games.close()
    assert not (tmp_path / "g.jsonl").exists()


def test_a_script_that_fails_writes_nothing(tmp_path: Path) -> None:
    def failing() -> None:
        with TrajectoryWriter(tmp_path / "g.jsonl", "coin", NAMES) as games:
            toss(games, "heads", "tails")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert not (tmp_path / "g.jsonl").exists()


def test_compressed_games_are_the_same_games_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    played = collect(registry.make("kuhn_poker"), 3, 0)
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.gz"):
        write(tmp_path / name, played)
    assert files.read(tmp_path / "b.jsonl.gz") == files.read(tmp_path / "a.jsonl") == played
    assert (tmp_path / "b.jsonl.gz").read_bytes() == (tmp_path / "c.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes()) == (tmp_path / "a.jsonl").read_bytes()


def test_a_compressed_file_that_is_cut_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write(path, collect(registry.make("kuhn_poker"), 1, 0))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TrajectoryFormatError, match="cannot be read: Compressed file ended"):
        files.read(path)


def test_the_example_of_the_documentation_writes_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(files.__file__).parents[1].joinpath("TRAJECTORIES.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(text.split("```python\n")[1].split("```")[0], {})
    first, second = files.read(tmp_path / "games.jsonl")
    assert (first.returns, second.returns) == ([-1, 1], [1, -1])
