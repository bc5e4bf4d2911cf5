"""Games on the model itself: two lots that share none, without those at which the model fails."""

from dataclasses import replace

import pytest

from arena.commands import exit_codes
from arena.pipeline.self_play import self_play
from arena.runs import inputs as run_inputs
from arena.runs.settings import RunSettings
from cwm.model.bundle import ModelBundle, describe
from cwm.trajectories import recorded
from games import registry

SETTINGS = RunSettings("tic_tac_toe", True, seed=3)


@pytest.fixture
def bundle(right_program: str) -> ModelBundle:
    inputs = run_inputs.registered("tic_tac_toe", 1, 3)
    return ModelBundle(right_program, None, inputs.initial_state, describe(inputs.info), "0" * 64)


def test_each_lot_has_its_share_of_every_source_and_they_are_other_games(bundle: ModelBundle) -> None:
    learnt, held_out = self_play(bundle, SETTINGS, 4, 2, 5)
    assert (len(learnt), len(held_out)) == (4 + 2, 4 + 2)
    assert [game.steps for game in learnt] != [game.steps for game in held_out]
    assert self_play(bundle, SETTINGS, 4, 2, 5) == (learnt, held_out)


def test_games_at_which_the_model_fails_are_left_out(bundle: ModelBundle) -> None:
    crash = 'if state["board"].count("x") == 3 and state["board"][0] == "x": raise ValueError("a fault")'
    source = bundle.source.replace("def get_legal_actions(state):", f"def get_legal_actions(state):\n    {crash}")
    assert source != bundle.source
    learnt, _ = self_play(replace(bundle, source=source), SETTINGS, 8, 0, 5)
    assert 0 < len(learnt) < 8


def test_games_on_the_model_that_do_not_end_are_left_out(bundle: ModelBundle, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody wins with less than five marks: every game on the model is longer than that.
    monkeypatch.setattr(recorded, "MAX_STEPS", 5)
    assert self_play(bundle, SETTINGS, 2, 0, 5) == ([], [])


def test_game_that_does_not_end_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "MAX_STEPS", 3)
    with pytest.raises(recorded.EndlessGameError, match="did not end within 3 steps") as caught:
        recorded.collect(registry.make("tic_tac_toe"), 1, 0)
    assert exit_codes.exit_code(caught.value) == exit_codes.EXIT_NEGATIVE
