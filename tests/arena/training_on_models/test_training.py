"""Agents that learn on a model: what they learn, and that a kill changes nothing."""

import json
from itertools import pairwise

import jax
import numpy as np
import pytest

from arena.checkpoints.on_model import Player, SeatPolicy
from arena.training_on_models import lesson, training
from arena.training_on_models.training import METRICS, Clock, Training
from cwm.observations.vectors import ObservationVectors
from search.learn import checkpoint
from search.learn.errors import CheckpointError, LearnError


class KilledError(Exception):
    """The process ends here."""


def ignore(progress):
    pass


def kill_at(steps):
    def told(progress):
        if progress.steps == steps:
            raise KilledError

    return told


@pytest.fixture(scope="module")
def task(high_card, sandbox, settings):
    return lesson.prepare(high_card, 1, settings(), sandbox)


@pytest.mark.slow
def test_agent_learns_when_to_call(task, settings, sandbox, tmp_path):
    # A random bet says nothing of the card: calling pays 4 p - 2 with a chance of p to have the higher one, folding -1.
    own = Training(task, settings(steps=8000), 0, tmp_path, sandbox)
    params = own.run(ignore).learner.params
    policy = SeatPolicy({}, task.actions, own.policy, params)
    vectors = ObservationVectors.from_json(task.vectors["schema"])
    chosen = {
        card: Player(policy, greedy=True).choose(vectors.encode({"card": card, "moves": ["bet"]}), [0, 1], 0)
        for card in "1234"
    }
    assert chosen == {"1": "fold", "2": "call", "3": "call", "4": "call"}


def test_training_that_is_killed_twice_ends_as_one_that_is_not(task, settings, sandbox, tmp_path, monkeypatch):
    whole = Training(task, settings(), 7, tmp_path / "whole", sandbox).run(ignore)
    monkeypatch.setattr(training, "SAVE_S", 0.0)
    for steps in (200, 300):
        with pytest.raises(KilledError):
            Training(task, settings(), 7, tmp_path / "killed", sandbox).run(kill_at(steps))
    resumed = Training(task, settings(), 7, tmp_path / "killed", sandbox)
    seen = []
    ended = resumed.run(lambda progress: seen.append(progress.steps))
    assert seen == [300, 400]
    jax.tree.map(np.testing.assert_array_equal, ended.learner, whole.learner)
    left, right = ((tmp_path / name / METRICS).read_text() for name in ("whole", "killed"))
    assert left == right
    assert [json.loads(line)["steps"] for line in left.splitlines()] == [100, 200, 300, 400]
    assert len(list((tmp_path / "killed").glob("games-*.json"))) == 1


def test_losses_that_are_not_finite_end_the_training_and_nothing_of_them_is_kept(
    task, settings, sandbox, tmp_path, monkeypatch
):
    own = Training(task, settings(), 0, tmp_path, sandbox)
    learn = own._trainer.learn

    def broken(state, rollout):
        state, losses = learn(state, rollout)
        return state, losses._replace(value=losses.value * np.nan) if int(state.updates) == 2 else losses

    monkeypatch.setattr(own._trainer, "learn", broken)
    with pytest.raises(LearnError, match="the losses of update 2 are not finite"):
        own.run(ignore)
    assert [json.loads(line)["update"] for line in (tmp_path / METRICS).read_text().splitlines()] == [1]
    assert not checkpoint.has_training(tmp_path)


def test_damaged_metrics_are_passed_over(task, settings, sandbox, tmp_path):
    Training(task, settings(), 0, tmp_path, sandbox).run(ignore)
    path = tmp_path / METRICS
    lines = path.read_text()
    path.write_text("[1]\nnonsense\n" + lines + "half")
    Training(task, settings(), 0, tmp_path, sandbox).run(ignore)
    assert path.read_text() == lines


def test_training_that_has_ended_is_not_trained_on(task, settings, sandbox, tmp_path):
    first = Training(task, settings(), 0, tmp_path, sandbox).run(ignore)
    again = Training(task, settings(), 0, tmp_path, sandbox).run(kill_at(400))
    jax.tree.map(np.testing.assert_array_equal, first.learner, again.learner)


def test_metrics_tell_losses_results_and_the_entropy_coefficient(task, settings, sandbox, tmp_path):
    Training(task, settings(), 0, tmp_path, sandbox).run(ignore)
    lines = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert [line["entropy_coefficient"] for line in lines] == pytest.approx([0.1, 0.0775, 0.055, 0.0325])
    assert all(line["results"]["games"] >= 100 for line in lines)
    assert all(-2 <= line["results"]["mean_return"] <= 2 for line in lines)
    assert all(left["losses"] != right["losses"] for left, right in pairwise(lines))
    assert {"total", "policy", "value", "entropy", "divergence", "clipped"} == set(lines[0]["losses"])


def test_progress_tells_speed_and_the_time_left(task, settings, sandbox, tmp_path):
    told = []
    Training(task, settings(), 3, tmp_path, sandbox).run(told.append)
    assert [(item.seat, item.seed, item.steps, item.total) for item in told] == [
        (1, 3, steps, 400) for steps in (100, 200, 300, 400)
    ]
    assert told[0].steps_per_s == 0
    assert told[1].steps_per_s > 0
    assert told[1].left_s == pytest.approx(200 / told[1].steps_per_s)
    assert told[3].left_s == 0


def test_damaged_games_of_a_checkpoint_are_named(task, settings, sandbox, tmp_path):
    Training(task, settings(), 0, tmp_path, sandbox).run(ignore)
    (tmp_path / "games-4.json").write_text("[")
    with pytest.raises(CheckpointError, match=r"games-4.json cannot be read .* to train anew"):
        Training(task, settings(), 0, tmp_path, sandbox).run(ignore)


def test_checkpoint_of_another_network_is_refused(task, settings, sandbox, tmp_path):
    Training(task, settings(), 0, tmp_path, sandbox).run(ignore)
    with pytest.raises(CheckpointError, match="is of another training"):
        Training(task, settings(hidden=8), 0, tmp_path, sandbox).run(ignore)
    assert checkpoint.has_training(tmp_path)


def test_networks_are_those_of_the_paper():
    perfect = training.network_config(True, 256)
    assert (perfect.encoder, perfect.core, perfect.layers, perfect.filters, perfect.hidden) == (
        "mlp",
        "none",
        1,
        256,
        256,
    )
    hidden = training.network_config(False, 256)
    assert (hidden.encoder, hidden.core, hidden.layers, hidden.activation) == ("mlp", "rnn", 0, "tanh")


def test_clock_tells_shares_that_add_up_to_one():
    told = Clock(100, model=1.0, encoding=2.0, transport=3.0, policy=1.0, update=3.0).to_json()
    assert told.pop("steps_per_s") == 10.0
    assert told == {"model": 0.1, "encoding": 0.2, "transport": 0.3, "policy": 0.1, "update": 0.3}
    assert Clock().to_json()["steps_per_s"] == 0.0
