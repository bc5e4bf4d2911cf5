"""Samples and held-out observations of a run: of the recorded games, of varied games on the model, of a planner's."""

from dataclasses import replace

import pytest

from arena.commands import exit_codes
from arena.pipeline.vector_samples import vector_task
from arena.runs import inputs as run_inputs
from arena.runs.settings import RunSettings
from cwm.functions.vectors import Sample, VectorConfig, samples_of
from cwm.model.bundle import ModelBundle, describe
from cwm.trajectories import recorded
from games import registry

SETTINGS = RunSettings("tic_tac_toe", True, seed=3)


def ends(samples: tuple[Sample, ...]) -> int:
    """Returns how many games end among the samples, each of which shows its end to two players."""
    return sum(seen["current_player"] == "Terminal" for _, seen in samples) // 2


@pytest.fixture
def bundle(right_program: str) -> ModelBundle:
    inputs = run_inputs.registered("tic_tac_toe", 1, 3)
    return ModelBundle(right_program, None, inputs.initial_state, describe(inputs.info), "0" * 64)


def test_every_source_gives_its_share_and_nothing_is_both_sample_and_held_out(bundle: ModelBundle) -> None:
    inputs = run_inputs.registered("tic_tac_toe", 3, 3)
    inputs = replace(inputs, train=inputs.train[:2], held_out=inputs.train[2:])
    config = VectorConfig(games=4, planner_games=2, planner_simulations=5)
    task = vector_task(bundle, inputs, SETTINGS, config)
    assert task.recorded == tuple(samples_of(inputs.train))
    assert task.samples[: len(task.recorded)] == task.recorded
    assert (ends(task.recorded), ends(task.samples), ends(task.held_out)) == (2, 2 + 4 + 2, 1 + 4 + 2)
    assert task.samples[len(task.recorded) :] != task.held_out[len(samples_of(inputs.held_out)) :]
    assert vector_task(bundle, inputs, SETTINGS, config) == task


def test_games_at_which_the_model_fails_are_left_out(bundle: ModelBundle) -> None:
    inputs = run_inputs.registered("tic_tac_toe", 2, 3)
    crash = 'if state["board"].count("x") == 3 and state["board"][0] == "x": raise ValueError("a fault")'
    source = bundle.source.replace("def get_legal_actions(state):", f"def get_legal_actions(state):\n    {crash}")
    assert source != bundle.source
    config = VectorConfig(games=8, planner_games=0)
    task = vector_task(replace(bundle, source=source), inputs, SETTINGS, config)
    assert 2 < ends(task.samples) < 2 + 8


def test_games_on_the_model_that_do_not_end_are_left_out(bundle: ModelBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = run_inputs.registered("tic_tac_toe", 2, 3)
    # Nobody wins with less than five marks: every game on the model is longer than that.
    monkeypatch.setattr(recorded, "MAX_STEPS", 5)
    task = vector_task(bundle, inputs, SETTINGS, VectorConfig(games=2, planner_games=0))
    assert task.samples == task.recorded
    assert task.held_out == ()


def test_game_that_does_not_end_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "MAX_STEPS", 3)
    with pytest.raises(recorded.EndlessGameError, match="did not end within 3 steps") as caught:
        recorded.collect(registry.make("tic_tac_toe"), 1, 0)
    assert exit_codes.exit_code(caught.value) == exit_codes.EXIT_NEGATIVE
