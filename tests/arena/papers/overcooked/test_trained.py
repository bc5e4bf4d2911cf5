"""Policies of a training played with each other, where JaxMARL is installed."""

import json

import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

from arena.papers.overcooked.tables import trained
from arena.training import method_training
from arena.training.recipes import adapted, recipe
from arena.training.training_run import TrainingPlan
from arena.usage import UsageError

pytestmark = pytest.mark.extra("jaxmarl")

GAME = "overcooked-v2-cramped-room,steps=8"


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trainings") / "sp"
    ppo = {"environments": 4, "steps": 8, "epochs": 1, "minibatches": 2, "total_steps": 32}
    made = adapted(recipe(GAME, "sp", "reduced", memory=False), {"hidden": 8, "convolutions": ((3, 4),)}, ppo)
    assert method_training.train(TrainingPlan(made, (0, 1), folder), None, lambda standing: None)
    return folder


def test_every_ordered_pair_is_played_once_and_kept(training, monkeypatch):
    heard = []
    found = trained.played(training, lambda done, every: heard.append((done, every)), episodes=2)
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.names == ("sp-s0", "sp-s1")
    assert (found.game, found.method, found.scale, found.steps) == (GAME, "sp", "reduced", 32)
    kept = json.loads((training / trained.KEPT).read_text())
    assert list(kept["pairs"]) == ["sp-s0 + sp-s0", "sp-s0 + sp-s1", "sp-s1 + sp-s0", "sp-s1 + sp-s1"]
    # An interruption leaves what was played; the rest alone is played then.
    one = kept["pairs"].pop("sp-s1 + sp-s0")
    (training / trained.KEPT).write_text(json.dumps(kept))
    asked = []
    monkeypatch.setattr(trained, "_pair", lambda table, pair, episodes: asked.append(pair) or one)
    assert trained.played(training, lambda done, every: None, episodes=2) == found
    assert asked == [("sp-s1", "sp-s0")]


def test_trainings_are_found_in_a_folder_that_holds_several(training, tmp_path):
    assert trained.trainings(training.parent) == trained.trainings(training) == [training]
    with pytest.raises(UsageError, match="holds no finished training on OvercookedV2: give a folder of"):
        trained.trainings(tmp_path)
