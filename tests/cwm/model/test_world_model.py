"""A program as a `Game` in the parent, and a model as files."""

import hashlib
import json
import random
from dataclasses import replace

import pytest

from cwm.model.bundle import ModelBundle, ModelBundleError, describe, rules_hash
from cwm.model.world_model import WorldModel, WorldModelError
from cwm.sandbox.wire.api import Outcome
from cwm.suite.build import BuildOptions
from cwm.suite.evaluation import evaluate
from cwm.suite.execution import RunOptions
from cwm.trajectories.recorded import collect
from games.api import EstimatesPolicy, EstimatesValue, IllegalActionError, ResamplesHistory
from games.contract import game


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
        game.assert_game(model, games=5)


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


PRIOR = "def policy_prior(state, legal_actions, player_id):\n    return [1 / len(legal_actions)] * len(legal_actions)\n"


def test_a_prior_is_offered_saved_and_read_back_and_removed(bundle, sandbox, tmp_path):
    plain = bundle("high_card")
    with WorldModel(plain, sandbox) as model:
        assert not isinstance(model, EstimatesPolicy)
    with_prior = replace(plain, prior_source=PRIOR)
    with_prior.save(tmp_path)
    loaded = ModelBundle.load(tmp_path)
    assert (loaded.hash, loaded.prior_source) == (with_prior.hash, PRIOR)
    with WorldModel(loaded, sandbox) as model:
        assert isinstance(model, EstimatesPolicy)
        assert model.policy(model.initial_state(), ["a", "b"], 0) == [0.5, 0.5]
    plain.save(tmp_path)
    assert not (tmp_path / "policy_prior.py").exists()
    assert ModelBundle.load(tmp_path).prior_source is None


def test_a_prior_changes_the_hash_and_none_leaves_it_as_it_was(bundle):
    plain = bundle("tic_tac_toe")
    content = [plain.source, None, plain.initial_state, describe(plain.game_info), plain.rules_hash]
    assert plain.hash == hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    hashes = {replace(plain, prior_source=prior).hash for prior in (None, "", PRIOR)}
    assert len(hashes) == 3


def test_a_prior_that_was_changed_added_or_dropped_is_noticed(bundle, tmp_path):
    replace(bundle("tic_tac_toe"), prior_source=PRIOR).save(tmp_path)
    record = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(record | {"policy_prior": False}))
    with pytest.raises(ModelBundleError, match="one of them was changed"):
        ModelBundle.load(tmp_path)
    (tmp_path / "model.json").write_text(json.dumps(record))
    (tmp_path / "policy_prior.py").write_text(PRIOR + "\n")
    with pytest.raises(ModelBundleError, match="one of them was changed"):
        ModelBundle.load(tmp_path)


def test_a_prior_has_a_namespace_of_its_own_and_its_own_file_in_tracebacks(bundle, sandbox):
    prior = (
        "def get_current_player(state):\n    return 1 // 0\n\n\n"
        "def policy_prior(state, legal_actions, player_id):\n    return get_current_player(state)\n"
    )
    with WorldModel(replace(bundle("tic_tac_toe"), prior_source=prior), sandbox) as model:
        assert model.current_player(model.initial_state()) == 0
        with pytest.raises(WorldModelError, match="ZeroDivisionError in line 2") as caught:
            model.policy(model.initial_state(), [], 0)
    assert 'File "policy_prior.py", line 2, in get_current_player' in caught.value.reply.failure.traceback


@pytest.mark.parametrize(
    ("metadata", "prior", "settings"),
    [
        ({}, None, {}),
        ({}, PRIOR, {"selection": "puct", "prior": "policy", "belief_temper": 1.0}),
        ({"plays_with": {"selection": "ucb"}}, PRIOR, {"selection": "ucb"}),
        ({"plays_with": "all its heart"}, None, {}),
    ],
)
def test_a_bundle_says_which_settings_it_plays_with(bundle, metadata, prior, settings):
    assert replace(bundle("tic_tac_toe"), metadata=metadata, prior_source=prior).plays_with == settings
