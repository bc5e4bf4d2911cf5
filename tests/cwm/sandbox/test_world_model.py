"""A program as a `Game` in the parent, and a model as files."""

import random

import pytest

from cwm.evaluation import evaluate
from cwm.model_bundle import ModelBundle, ModelBundleError, describe, rules_hash
from cwm.sandbox.api import Outcome
from cwm.test_execution import RunOptions
from cwm.trajectories import collect
from cwm.unit_tests import BuildOptions
from cwm.world_model import WorldModel, WorldModelError
from games import contract
from games.api import EstimatesValue, IllegalActionError, ResamplesHistory


@pytest.fixture(scope="module")
def bundle(toy):
    def make(name, *replacements, value_source=None):
        program = toy(name, *replacements, value_source=value_source)
        return ModelBundle(
            program.source, value_source, program.initial_state, program.info, rules_hash("rules"), {"model": "none"}
        )

    return make


@pytest.mark.parametrize("name", ["tic_tac_toe", "high_card"])
def test_a_right_program_passes_the_contract_of_games(bundle, sandbox, name):
    with WorldModel(bundle(name), sandbox) as model:
        contract.assert_game(model, games=5)


def test_what_a_program_does_not_define_is_not_offered(bundle, sandbox):
    with WorldModel(bundle("tic_tac_toe"), sandbox) as model:
        assert not isinstance(model, ResamplesHistory)
        assert not isinstance(model, EstimatesValue)
    value = "def value_function(state, player_id):\n    return 0.25\n"
    with WorldModel(bundle("high_card", value_source=value), sandbox) as model:
        assert isinstance(model, ResamplesHistory)
        assert model.value(model.initial_state(), 0) == 0.25


def test_resampling_follows_the_rng(bundle, sandbox):
    with WorldModel(bundle("high_card"), sandbox) as model:
        history = [({"card": "2", "moves": []}, None)]
        draws = [model.resample_history(history, 0, random.Random(seed)) for seed in (1, 1, 2, 3, 4, 5, 6)]
    assert draws[0] == draws[1]
    assert len({tuple(draw) for draw in draws}) > 1


def test_a_caller_cannot_change_what_the_model_answers(bundle, sandbox):
    with WorldModel(bundle("tic_tac_toe"), sandbox) as model:
        state = model.initial_state()
        model.legal_actions(state).clear()
        model.initial_state()["board"][0] = "x"
        assert len(model.legal_actions(model.initial_state())) == 9


def test_an_illegal_action_is_refused(bundle, sandbox):
    with WorldModel(bundle("tic_tac_toe"), sandbox) as model, pytest.raises(IllegalActionError, match="'x9' is not"):
        model.apply_action(model.initial_state(), "x9")


def test_a_dead_worker_is_replaced_at_the_next_call(bundle, sandbox):
    broken = ("    winner = _winner(state[\"board\"])\n    if", "    import os\n    os._exit(0)\n    if")  # fmt: skip
    with WorldModel(bundle("tic_tac_toe", broken), sandbox) as model:
        with pytest.raises(WorldModelError, match="get_rewards failed \\(crashed\\)") as caught:
            model.rewards(model.initial_state())
        assert caught.value.reply.outcome is Outcome.CRASHED
        assert model.current_player(model.initial_state()) == 0


def test_a_program_that_does_not_load_is_named(bundle, sandbox):
    with pytest.raises(WorldModelError, match="loading failed \\(model_error\\): NameError in line 3"):
        WorldModel(bundle("tic_tac_toe", ("LINES = [", "LINES = undefined + [")), sandbox)


def test_a_saved_bundle_is_read_back(bundle, tmp_path):
    original = bundle("high_card", value_source="def value_function(s, p):\r\n    return 'é'\n")
    original.save(tmp_path / "model")
    for path in (tmp_path / "model", tmp_path, tmp_path / "model" / "model.json"):
        loaded = ModelBundle.load(path)
        assert loaded.hash == original.hash
        assert loaded.value_source == original.value_source
        assert loaded.game_info == original.game_info
        assert loaded.metadata == {"model": "none"}


def test_the_hash_is_of_behaviour_not_of_metadata(bundle):
    one = bundle("tic_tac_toe")
    assert one.hash == ModelBundle(**(vars(one) | {"metadata": {}})).hash
    assert one.hash == ModelBundle(**(vars(one) | {"info": describe(one.game_info)})).hash
    assert one.hash != ModelBundle(**(vars(one) | {"value_source": ""})).hash


def test_a_changed_file_is_noticed(bundle, tmp_path):
    bundle("tic_tac_toe").save(tmp_path)
    (tmp_path / "program.py").write_text("pass\n")
    with pytest.raises(ModelBundleError, match="one of them was changed"):
        ModelBundle.load(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 99}'])
def test_a_damaged_bundle_is_named(bundle, tmp_path, text):
    bundle("tic_tac_toe").save(tmp_path)
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(ModelBundleError, match=r"damaged|format 99"):
        ModelBundle.load(tmp_path)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelBundleError, match="holds no model"):
        ModelBundle.load(tmp_path)


def test_evaluation_is_the_same_with_one_worker_and_with_two(bundle, sandbox):
    right, wrong = bundle("high_card"), bundle("high_card", ("2.0 if len", "3.0 if len"))
    with WorldModel(right, sandbox) as model:
        games = collect(model, 30, 0)
    options = BuildOptions(kinds=("transition", "inference"))
    told = []
    reports = [
        evaluate(wrong.program(), games, sandbox, options, RunOptions(workers=workers), lambda *done: told.append(done))
        for workers in (1, 2)
    ]
    assert reports[0] == reports[1]
    assert reports[0].accuracy("inference") == 1.0
    assert 0.9 < reports[0].accuracy("transition") < 1.0
    assert reports[0].fields["final_scores"].wrong == len(reports[0].failed)
    assert told[-1][0] == told[-1][1] == len(told) // 2
