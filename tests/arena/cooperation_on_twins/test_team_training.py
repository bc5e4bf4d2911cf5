"""Learning together on a twin: it learns, goes on after a kill as if it had not been, and its policies play."""

import json
import shutil
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.cooperation_on_twins import cross_play, task
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


def test_games_are_played_in_lots_that_change_nothing(echo, monkeypatch):
    learner = TeamLearner(*echo, TeamTask(NETWORK, PPO, 4, (0,)), (), None)
    params = jax.tree.map(lambda leaf: np.asarray(leaf[0]), learner.begin().learner.params)
    whole = TwinTable(*echo, 4, [(NETWORK, params)]).play([0, 0], 50, 3, False)
    monkeypatch.setattr(task, "AT_ONCE", 16)
    lots = TwinTable(*echo, 4, [(NETWORK, params)]).play([0, 0], 50, 3, False)
    assert len(set(np.asarray(whole.total).tolist())) > 1
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(lots), strict=True):
        assert np.asarray(one).tolist() == np.asarray(other).tolist()


def test_state_augmented_games_begin_where_pairs_have_been(echo):
    few = replace(PPO, total_steps=64 * 8 * 3)
    wanted = TeamTask(NETWORK, few, 4, (0, 1), begins=(1,), rollouts=5)
    assert TeamTask.from_json(json.loads(json.dumps(wanted.to_json()))) == wanted
    learner = TeamLearner(*echo, wanted, (), None)
    state, report = learner.run(learner.begin(), 1)
    assert int(state.buffer.filled) == 0
    # A game takes two actions.
    assert np.asarray(report.episodes.games).tolist() == [[64 * 4]] * 2
    state, report = learner.run(state, 1)
    # Of four pairs five games each; they end before a tenth step, so the first state of each is kept.
    assert int(state.buffer.filled) == 20
    assert np.asarray(state.buffer.states.length).tolist() == [0] * 20
    assert set(np.asarray(state.buffer.states.copies[1][0]).tolist()) == {0, 1}
    # Where the second player has spoken there is one action left: after the games that are under way all are as short.
    dealt = state.buffer.states
    copies = (jnp.zeros_like(dealt.copies[0]), dealt.copies[1], dealt.copies[2].at[:, 1].set(dealt.copies[1]))
    spoken = dealt._replace(copies=copies, length=dealt.length + 1)
    state, report = learner.run(state._replace(buffer=state.buffer._replace(states=spoken)), 1)
    assert np.asarray(report.episodes.games).tolist() == [[64 * 7]] * 2


def test_a_state_augmented_training_that_was_stopped_comes_to_the_same_policies(yokai, tmp_path):
    def stop(standing):
        if standing.steps >= 512:
            raise Stopped

    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert train(yokai, whole, method="sa")
    with pytest.raises(Stopped):
        train(yokai, stopped, stop, method="sa")
    assert train(yokai, stopped, method="sa")
    for name in ("sa-s0", "sa-s1"):
        one, other = (folder / name / "seat1" / "policy.safetensors" for folder in (whole, stopped))
        assert one.read_bytes() == other.read_bytes()
    assert json.loads((whole / "sa-s0" / "seat0" / "config.json").read_text())["method"] == "sa"


def test_state_augmented_self_play_needs_two_policies(yokai, tmp_path):
    settings = replace(SETTINGS, method="sa")
    with pytest.raises(UsageError, match="there is one seed, 3: give at least two"):
        TeamCourse(ModelBundle.load(yokai), StoredTwin.load(yokai), settings, (3,), tmp_path)


def test_policies_of_one_seat_do_not_play_all_of_them(trained, yokai, tmp_path):
    shutil.copytree(trained / "sp-s0", tmp_path / "sp-s0")
    about = tmp_path / "sp-s0" / "seat0" / "config.json"
    told = json.loads(about.read_text())
    # `cwm train ppo` on a twin tells of no method.
    about.write_text(json.dumps({name: value for name, value in told.items() if name != "method"}))
    with pytest.raises(UsageError, match="trained each for one seat"):
        cross_play.load_all([tmp_path], StoredTwin.load(yokai))


@pytest.mark.parametrize("forged", [[[0, 0]], [[1, 2]], [[0]], "none"])
def test_renamings_that_were_changed_on_disk_are_refused(echo, yokai, tmp_path, forged):
    bundle, twin = ModelBundle.load(yokai), StoredTwin.load(yokai)
    twin = replace(twin, traced=replace(twin.traced, form=echo[0]))
    training = TeamCourse(bundle, twin, replace(SETTINGS, method="op"), (0,), tmp_path)
    (tmp_path / "symmetries.json").write_text(json.dumps({"titles": [], "actions": forged, "outcomes": [[0, 1]]}))
    with pytest.raises(UsageError, match=r"is damaged .*delete .* to look for them anew"):
        training._symmetries(lambda text: None)


def test_a_game_of_rivals_is_refused(yokai, tmp_path):
    bundle = ModelBundle.load(yokai)
    rivals = replace(bundle, info=bundle.info | {"utility": "zero_sum"})
    with pytest.raises(UsageError, match="no cooperative game of several players"):
        TeamCourse(rivals, StoredTwin.load(yokai), SETTINGS, (0,), tmp_path)
