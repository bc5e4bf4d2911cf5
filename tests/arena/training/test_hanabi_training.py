"""Learners run on batched Hanabi through the command that trains them on Yōkai."""

import jax
import numpy as np
import pytest

from arena.policy_play import cross_play
from arena.training import method_training
from arena.training.recipes import adapted, recipe
from arena.training.training_run import TrainingPlan
from search.learn import checkpoint
from search.learn.errors import OffBeliefError

GAME = "hanabi-tiny-2p"
NETWORK = {"encoder": "mlp", "filters": 8, "layers": 1, "hidden": 8, "core": "none"}
PPO = {"environments": 4, "steps": 4, "epochs": 1, "minibatches": 2, "total_steps": 32}


def tiny(method, **own):
    """Returns a recipe of a tiny network and two updates."""
    return adapted(recipe(GAME, method, "reduced", memory=False), NETWORK, PPO, **own)


def trained(method, folder, **own):
    """Trains a policy and returns where it stands."""
    made = tiny(method, **own)
    assert method_training.train(TrainingPlan(made, (0,), folder), None, lambda standing: None)
    return folder / f"{made.name}-s0"


@pytest.mark.parametrize(
    ("method", "own"),
    [
        ("sp", {}),
        pytest.param("he", {}, marks=pytest.mark.slow),
        pytest.param("op-col", {}, marks=pytest.mark.slow),
        pytest.param("obl", {"exact_belief": True}, marks=pytest.mark.slow),
    ],
)
def test_policies_are_trained_a_few_steps(method, own, tmp_path):
    folder = trained(method, tmp_path / "run", **own)
    about = checkpoint.load_about(folder)
    assert (about["game"], about["view"], about["steps"]) == (GAME, "default", 32)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(checkpoint.load_policy(folder)))


@pytest.mark.slow
def test_trained_policies_play_together(tmp_path):
    trained("sp", tmp_path / "run")
    found = cross_play.load_all(GAME, [str(tmp_path / "run")])
    played = cross_play.run(found, 4, 0)
    assert played.methods[0].policies == ("sp-s0",)


@pytest.mark.parametrize("own", [{}, {"exact_belief": True, "level": 2}], ids=["learned belief", "second level"])
def test_beliefs_that_would_not_heed_hints_are_refused_before_anything_is_written(own, tmp_path):
    made = tiny("obl", **own)
    with pytest.raises(OffBeliefError, match="which learned beliefs do not heed: train level 1 alone"):
        method_training.train(TrainingPlan(made, (0,), tmp_path / "run"), None, lambda standing: None)
    assert not (tmp_path / "run").exists()


def test_a_view_for_the_memory_is_asked_for_where_there_is_one(refused):
    ran = refused("train", "hanabi", GAME, "--memory", "--scale", "reduced")
    assert "hanabi-tiny-2p has no view that helps the memory" in ran.err
