import pytest

from arena import bulk_recording
from arena.bulk_recording import record
from cwm import trajectory_file
from cwm.trajectories import write
from games import registry
from games.api import GameError


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
    assert trajectory_file.read(tmp_path / "games.jsonl") == trajectories


def test_a_game_depends_on_seed_and_index_alone(monkeypatch):
    first = list(record("yokai-9c-2p", 10, seed=4))
    monkeypatch.setattr(bulk_recording, "BATCH", 3)
    assert list(record("yokai-9c-2p", 10, seed=4)) == first
    assert list(record("yokai-9c-2p", 3, seed=5)) != first[:3]


def test_other_games_are_not_batched():
    with pytest.raises(GameError, match="yokai-9c-2p"):
        list(record("tic_tac_toe", 1, seed=0))
