"""Learning together on a twin: it learns, goes on after a kill as if it had not been, and its policies play."""

import json
import shutil
from dataclasses import replace

import jax
import numpy as np
import pytest

from arena.cooperation_on_twins.course import TeamCourse, TeamSettings
from arena.cooperation_on_twins.environment import Renaming
from arena.cooperation_on_twins.task import TeamLearner, TeamTask, TwinTable
from arena.pipeline import recorded_models
from arena.training.time_limit import TimeLimit
from arena.usage import UsageError
from cwm.model.bundle import ModelBundle
from cwm.twins.stored import StoredTwin
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig

pytestmark = pytest.mark.slow
NETWORK = NetworkConfig("mlp", "gru", hidden=16, filters=16, layers=1)
PPO = PpoConfig(
    total_steps=64 * 8 * 80, environments=64, steps=8, minibatches=2, learning_rate=5e-3, value_clip=None, entropy=0.01
)
SWAP = Renaming(np.array([[0, 1], [1, 0]], np.int32), np.array([[0, 1], [1, 0]], np.int32))
SETTINGS = TeamSettings(steps=1024, environments=8, hidden=8)


@pytest.mark.parametrize("symmetries", [None, SWAP])
def test_policies_learn_to_tell_each_other_what_they_see(echo, symmetries):
    learner = TeamLearner(*echo, TeamTask(NETWORK, PPO, 4, (0,)), (), symmetries)
    state, report = learner.run(learner.begin(), 80)
    params = jax.tree.map(lambda leaf: np.asarray(leaf[0]), state.learner.params)
    games = np.asarray(report.episodes.games)[0]
    returns = np.asarray(report.episodes.total)[0] / games
    assert abs(returns[0]) < 0.5
    assert returns[-1] > 0.9
    table = TwinTable(*echo, 4, [(NETWORK, params)])
    assert np.asarray(table.play([0, 0], 100, 0, True).total).mean() == 1
    # One policy beside the frozen other learns its words, too.
    partners = replace(PPO, entropy=0.0)
    members = jax.tree.map(lambda leaf: leaf[None], params)
    pupil = TeamLearner(*echo, TeamTask(NETWORK, partners, 4, (1,), partners=True), members, None)
    state, report = pupil.run(pupil.begin(), 80)
    assert np.asarray(report.episodes.total)[0, -1] / np.asarray(report.episodes.games)[0, -1] > 0.9


class Stopped(Exception):
    pass


def train(yokai, folder, on_report=lambda standing: None, **changed):
    settings = replace(SETTINGS, **changed)
    course = TeamCourse(ModelBundle.load(yokai), StoredTwin.load(yokai), settings, (0, 1), folder)
    return course.train(TimeLimit(None), on_report, lambda text: None)


@pytest.fixture(scope="module")
def trained(yokai, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert train(yokai, folder)
    return folder


def test_a_training_that_was_stopped_comes_to_the_same_policies(trained, yokai, tmp_path):
    def stop(standing):
        if standing.steps >= 512:
            raise Stopped

    with pytest.raises(Stopped):
        train(yokai, tmp_path, stop)
    assert not (tmp_path / "sp-s0").exists()
    assert train(yokai, tmp_path)
    for name in ("sp-s0", "sp-s1"):
        own, whole = (folder / name / "seat1" / "policy.safetensors" for folder in (tmp_path, trained))
        assert own.read_bytes() == whole.read_bytes()
    seats = [(tmp_path / "sp-s0" / f"seat{seat}" / "policy.safetensors").read_bytes() for seat in (0, 1)]
    assert seats[0] == seats[1]
    with pytest.raises(UsageError, match="was begun with other settings"):
        train(yokai, tmp_path, hidden=4)


def test_policies_play_on_the_twin_and_at_the_table(trained, yokai, cwm, tmp_path):
    told = cwm("xp", "yokai-9c-2p", "--twin", str(yokai), "--checkpoint", str(trained), "--games", "20", "--json").json
    assert told["policies"] == ["sp-s0", "sp-s1"]
    assert [row["seats"] for row in told["seatings"]] == [
        ["sp-s0", "sp-s0"],
        ["sp-s1", "sp-s1"],
        ["sp-s0", "sp-s1"],
        ["sp-s1", "sp-s0"],
    ]
    assert all(2 <= row["length"] <= 32 and row["cut"] == 0 for row in told["seatings"])
    words = ("arena", "yokai-9c-2p", "--agent", f"learned:{trained / 'sp-s0'}", "--agent", "random", "--deals", "2")
    played = cwm(*words, "--run", str(tmp_path / "games"))
    assert played.code == 0, played.err
    about = json.loads((trained / "sp-s1" / "seat1" / "config.json").read_text())
    assert (about["seat"], about["method"], about["seed"]) == (1, "sp", 1)


def test_a_recorded_model_is_named_by_its_game(trained, yokai, cwm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(yokai, recorded_models.place_of("yokai-9c-2p") / "model")
    model = ("--model", "recorded", "--game", "yokai-9c-2p", "--out", str(trained), "--games", "0")
    settings = ("--steps", "1024", "--environments", "8", "--hidden", "8", "--seeds", "0,1")
    told = cwm("train", "ippo", *model, *settings, "--json").json
    assert told["policies"] == [str(trained / "sp-s0"), str(trained / "sp-s1")]
    words = ("xp", "yokai-9c-2p", "--twin", "recorded", "--checkpoint", str(trained), "--games", "20", "--json")
    assert cwm(*words).json["policies"] == ["sp-s0", "sp-s1"]


def test_a_game_of_rivals_is_refused(yokai, tmp_path):
    bundle = ModelBundle.load(yokai)
    rivals = replace(bundle, info=bundle.info | {"utility": "zero_sum"})
    with pytest.raises(UsageError, match="no cooperative game of several players"):
        TeamCourse(rivals, StoredTwin.load(yokai), SETTINGS, (0,), tmp_path)
