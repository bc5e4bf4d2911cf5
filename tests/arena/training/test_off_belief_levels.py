from dataclasses import replace
from functools import cache
from typing import NamedTuple

import jax
import numpy as np
import pytest

from arena.checkpoints import on_game
from arena.training import off_belief_levels
from arena.training.off_belief_levels import LevelsPlan
from arena.training.recipes import adapted, recipe
from arena.training.time_limit import TimeLimit
from games.batched.wrappers import no_episodes
from games.batched.yokai.environment import make
from search.learn import checkpoint
from search.learn.beliefs.belief_model import BeliefModel, CrossEntropy
from search.learn.beliefs.belief_training import BeliefTrainingConfig
from search.learn.beliefs.beliefs import UniformBelief
from search.learn.errors import CheckpointError, OffBeliefError
from search.learn.networks.belief import BeliefConfig
from search.learn.ppo.losses import Losses
from search.learn.ppo.ppo import Learner

NETWORK = {"hidden": 8, "filters": 8}
PPO = {"total_steps": 4 * 4 * 3, "environments": 4, "steps": 4, "epochs": 1, "minibatches": 2}


@pytest.fixture
def plan(tmp_path):
    """Returns a plan for as many levels, with tiny networks and three updates a stage."""

    def build(levels=2, **changes):
        made = adapted(recipe("yokai-8c-2p", "obl", "reduced", level=levels), NETWORK, PPO)
        beliefs = BeliefTrainingConfig(total_steps=4 * 4 * 3, environments=4, steps=4, minibatches=2)
        return replace(LevelsPlan(made, 3, tmp_path, BeliefConfig("mlp", 8, 1, 8), beliefs), **changes)

    return build


class Counted(NamedTuple):
    """State of a training whose parameters are what it was given, and how often it was updated."""

    params: dict
    learner: Learner
    updates: jax.Array


class Report(NamedTuple):
    episodes: tuple
    losses: Losses


@cache
def episodes_of_yokai():
    return jax.tree.map(np.asarray, no_episodes(make("yokai-8c-2p")))


class Counting:
    """Stands in for the trainer of a belief or a policy: each update adds what it is given to the parameters."""

    def __init__(self, report):
        self.report = report

    def init(self, seeds, context=()):
        params = {"sum": np.full(1, seeds[0], np.float32)}
        return Counted(params, Learner(params, ()), np.zeros(1, np.int32))

    def run(self, state, *given):
        updates = next(item for item in given if isinstance(item, int))
        below = next((item for item in given if isinstance(item, dict) and item), {"sum": np.zeros(())})
        params = {"sum": np.asarray(state.params["sum"] + np.float32(updates * (1 + float(below["sum"]))))}
        return Counted(params, Learner(params, ()), state.updates + updates), self.report


@pytest.fixture
def counting(monkeypatch):
    """Puts counting in the place of training; returns what trainers were built, by (level or belief)."""
    built = []
    told = CrossEntropy(np.full((1, 1), 6.0), np.full((1, 1), 12.0), np.full((1, 1), 3.0))
    played = Report(episodes_of_yokai(), Losses(*np.ones((6, 1, 1))))

    def belief_trainer(recipe, level, belief, config):
        built.append(level)
        return Counting(told)

    def policy_trainer(recipe, belief):
        built.append(type(belief).__name__)
        return Counting(played)

    monkeypatch.setattr(off_belief_levels, "belief_trainer", belief_trainer)
    monkeypatch.setattr(off_belief_levels, "policy_trainer", policy_trainer)
    return built


def sum_of(folder):
    return float(checkpoint.load_policy(folder)["sum"])


def test_each_level_is_given_the_belief_about_the_level_below(plan, counting):
    heard = []
    assert off_belief_levels.train(plan(2), TimeLimit(None), heard.append)
    assert counting == [0, "BeliefModel", 1, "BeliefModel"]
    assert [report.stage for report in heard[2::3]] == ["belief-0", "obl1", "belief-1", "obl2"]
    assert [report.updates for report in heard] == [1, 2, 3] * 4
    expected = 0.0
    folders = [off_belief_levels.belief_folder, off_belief_levels.policy_folder]
    for number, (of_stage, level) in enumerate([(0, 0), (1, 1), (0, 1), (1, 2)]):
        expected = 3000 + 2 + number + 3 * (1 + expected)
        assert sum_of(folders[of_stage](plan(), level)) == expected
    for level in (0, 1):
        assert checkpoint.load_about(off_belief_levels.belief_folder(plan(), level))["cross_entropy"] == 0.5
    assert heard[0].numbers == {"cross_entropy": 0.5, "cross_entropy_of_all": 2.0}
    assert off_belief_levels.train(plan(2), TimeLimit(None), lambda report: pytest.fail("everything was finished"))


def test_a_training_that_is_stopped_after_every_report_comes_to_the_same_end(plan, counting, tmp_path):
    whole, parts = plan(2, folder=tmp_path / "whole"), plan(2, folder=tmp_path / "parts")
    assert off_belief_levels.train(whole, TimeLimit(None), lambda report: None)
    heard = []
    finished = [off_belief_levels.train(parts, TimeLimit(0.0), heard.append) for _ in range(12)]
    assert finished == [False] * 11 + [True]
    assert [report.updates for report in heard] == [1, 2, 3] * 4
    last = off_belief_levels.policy_folder(whole, 2), off_belief_levels.policy_folder(parts, 2)
    assert sum_of(last[0]) == sum_of(last[1])
    assert checkpoint.load_about(last[0]) == checkpoint.load_about(last[1])


@pytest.mark.parametrize("reports", range(1, 13))
def test_what_was_trained_is_kept_when_it_is_interrupted(plan, counting, tmp_path, reports):
    heard = []

    def interrupted(report):
        heard.append(report)
        if len(heard) == reports:
            raise KeyboardInterrupt

    whole, parts = plan(2, folder=tmp_path / "whole"), plan(2, folder=tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        off_belief_levels.train(parts, TimeLimit(None), interrupted)
    assert off_belief_levels.train(parts, TimeLimit(None), heard.append)
    # The last update of a stage is made again: its end is not kept but exported.
    repeated = 3 if reports % 3 == 0 else 0
    assert len(heard) == 12 + repeated
    assert off_belief_levels.train(whole, TimeLimit(None), lambda report: None)
    last = off_belief_levels.policy_folder(whole, 2), off_belief_levels.policy_folder(parts, 2)
    assert sum_of(last[0]) == sum_of(last[1])


def test_level_1_needs_no_learned_belief_where_the_exact_one_is_asked_for(plan, counting):
    exact = plan(1, exact_first=True)
    assert off_belief_levels.train(exact, TimeLimit(None), lambda report: None)
    assert counting == ["UniformBelief"]
    assert not off_belief_levels.belief_folder(exact, 0).exists()


@pytest.mark.parametrize("level", [1, 2])
def test_trainers_of_a_level_fit_the_game_and_each_other(plan, level):
    made = plan(level, exact_first=True)
    hidden = off_belief_levels.hidden_of(made.recipe)
    model = BeliefModel(made.belief, hidden.counts)
    belief = UniformBelief(hidden.counts) if level == 1 else model
    trainer = off_belief_levels.belief_trainer(made.recipe, level - 1, model, made.belief_training)
    beliefs = jax.eval_shape(lambda: trainer.init([0]))
    believed = () if level == 1 else jax.tree.map(lambda leaf: np.zeros(leaf.shape[1:], leaf.dtype), beliefs.params)
    teacher = off_belief_levels.policy_trainer(made.recipe, belief)
    policies_of = jax.eval_shape(lambda: teacher.init([0], believed))
    players = {}
    if level > 1:
        players = jax.tree.map(lambda leaf: np.zeros(leaf.shape[1:], leaf.dtype), policies_of.learner.params)
    after, found = jax.eval_shape(lambda state: trainer.run(state, players, 1), beliefs)
    assert jax.tree.leaves(after) == jax.tree.leaves(beliefs)
    assert found.total.shape == (1, 1)
    after, report = jax.eval_shape(lambda state: teacher.run(state, 1, believed), policies_of)
    assert jax.tree.leaves(after) == jax.tree.leaves(policies_of)
    assert report.losses.total.shape == (1, 1)


@pytest.mark.slow
def test_two_levels_are_trained_on_yokai(plan):
    heard = []
    assert off_belief_levels.train(plan(2), TimeLimit(None), heard.append)
    for report in heard:
        if report.stage.startswith("belief"):
            assert 0 < report.numbers["cross_entropy"] <= np.log(2) + 0.05
            assert report.numbers["cross_entropy"] < report.numbers["cross_entropy_of_all"]
    found = on_game.load(off_belief_levels.policy_folder(plan(), 2))
    assert (found.name, found.about["method"], found.about["steps"]) == ("obl2-s3", "obl2", 48)
    assert found.network.config.public_private


def test_recipes_of_other_methods_are_refused(plan):
    with pytest.raises(OffBeliefError, match="'sp'"):
        plan(1, recipe=recipe("yokai-8c-2p", "sp", "reduced"))


def test_a_level_cannot_be_trained_before_its_belief(plan):
    with pytest.raises(CheckpointError, match="belief-1-s3"):
        off_belief_levels._belief_of(plan(), 2)
