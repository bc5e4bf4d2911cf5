import pytest

from arena.evaluation import bulk_recording
from arena.evaluation.bulk_recording import record
from cwm.trajectories import files
from cwm.trajectories.recorded import write
from games import registry
from games.api import GameError
from games.yokai.game import YokaiGame


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(bulk_recording, "BATCH", 8)


def test_recorded_games_are_whole_games_of_the_reference(tmp_path):
    trajectories = list(record("yokai-9c-2p", 10, seed=4))
    assert [trajectory.index for trajectory in trajectories] == list(range(10))
    game = registry.make("yokai-9c-2p")
    for trajectory in trajectories:
        state = game.initial_state()
        for step in trajectory.steps:
            assert step.state == state
            if step.action is not None:
                state = game.apply_action(state, step.action)
        assert game.current_player(state) == -4
    write(tmp_path / "games.jsonl", trajectories)
    assert files.read(tmp_path / "games.jsonl") == trajectories


@pytest.mark.extra("batched")
def test_a_game_depends_on_seed_and_index_alone(monkeypatch):
    first = list(record("yokai-9c-2p", 10, seed=4))
    monkeypatch.setattr(bulk_recording, "BATCH", 3)
    assert list(record("yokai-9c-2p", 10, seed=4)) == first
    assert list(record("yokai-9c-2p", 3, seed=5)) != first[:3]


def test_seeds_may_be_of_any_size():
    first, second = (list(record("yokai-9c-2p", 2, seed)) for seed in (1, 1 + 2**64))
    assert first[0].steps != second[0].steps


def test_another_return_than_the_references_is_refused(monkeypatch):
    monkeypatch.setattr(YokaiGame, "rewards", lambda self, state: [99.0, 99.0])
    with pytest.raises(GameError, match="but not in the reference"):
        list(record("yokai-9c-2p", 1, seed=0))


def test_games_recorded_by_the_command_pass_its_check(cwm, tmp_path):
    file = tmp_path / "games.jsonl"
    ran = cwm("trajectories", "record", "yokai-9c-2p", "--batched", "--games", 9, "-o", file)
    assert ran.code == 0
    assert "9 games of yokai-9c-2p" in ran.err
    assert cwm("trajectories", "check", file, "--json").json["games"] == 9


def test_other_games_are_not_batched(refused, tmp_path):
    ran = refused("trajectories", "record", "tic_tac_toe", "--batched", "-o", tmp_path / "games.jsonl")
    assert "There is no batched game 'tic_tac_toe'; known: yokai-9c-2p" in ran.err
    assert list(tmp_path.iterdir()) == []
