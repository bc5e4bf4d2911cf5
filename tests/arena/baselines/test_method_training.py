"""Methods that are more than self-play: each is stopped and goes on, and leaves policies that play."""

from pathlib import Path

import jax
import numpy as np

from arena.baselines import (
    cross_play,
    method_training,
    training_log,
)
from arena.baselines.recipes import Recipe, adapted, recipe
from arena.baselines.training_run import TrainingPlan
from search.learn import checkpoint

GAME = "yokai-8c-2p"
NETWORK = {"encoder": "mlp", "filters": 8, "layers": 1, "hidden": 8}
PPO = {"total_steps": 32, "environments": 4, "steps": 4, "epochs": 1, "minibatches": 2}


def tiny(method: str, **own: object) -> Recipe:
    """Returns a recipe of two updates of a tiny network."""
    return adapted(recipe(GAME, method, "reduced"), NETWORK, PPO, **own)


def in_pieces(plan: TrainingPlan) -> int:
    """Trains with a stop after every piece; returns how often it took."""
    for times in range(1, 20):
        if method_training.train(plan, 0.0, lambda standing: None):
            return times
    raise AssertionError("it does not come to an end")


def parameters(folder: Path) -> list[np.ndarray]:
    return jax.tree.leaves(checkpoint.load_policy(folder))


def assert_same_policy(one: Path, other: Path) -> None:
    for left, right in zip(parameters(one), parameters(other), strict=True):
        np.testing.assert_array_equal(left, right)
    assert checkpoint.load_about(one) == checkpoint.load_about(other)


def differ(one: Path, other: Path) -> bool:
    return any((left != right).any() for left, right in zip(parameters(one), parameters(other), strict=True))


def test_state_augmented_policies_are_the_same_after_a_stop(tmp_path):
    heard = []
    whole = TrainingPlan(tiny("sa"), (0, 3), tmp_path / "whole")
    assert method_training.train(whole, None, heard.append)
    assert [(standing.steps, standing.total) for standing in heard] == [(16, 32), (32, 32)]
    parts = TrainingPlan(whole.recipe, whole.seeds, tmp_path / "parts")
    assert in_pieces(parts) == 2
    names = ["sa-s0", "sa-s3"]
    for name in names:
        assert_same_policy(whole.folder / name, parts.folder / name)
    assert differ(whole.folder / names[0], whole.folder / names[1])
    lines = training_log.read(parts.folder)
    assert [(line["steps"], line["seed"]) for line in lines] == [(16, 0), (16, 3), (32, 0), (32, 3)]
    loaded = cross_play.load_all(GAME, [str(parts.folder)])
    assert [(policy.name, policy.about["method"], policy.about["steps"]) for policy in loaded] == [
        (name, "sa", 32) for name in names
    ]
