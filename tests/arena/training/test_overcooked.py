"""Policies on OvercookedV2: the paper's settings, and tiny trainings, where JaxMARL is installed."""

import json

import jax.numpy as jnp
import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

from arena.training import method_training, overcooked, training_log
from arena.training.recipes import Recipe, RecipeError, adapted, recipe
from arena.training.training_run import TrainingPlan
from search.learn import checkpoint

pytestmark = pytest.mark.extra("jaxmarl")

ROOM = "overcooked-v2-cramped-room"
GROUNDED = "overcooked-v2-grounded-coord-simple"
NETWORK = {"hidden": 8, "convolutions": ((3, 4),)}
PPO = {"environments": 4, "steps": 8, "epochs": 1, "minibatches": 2}


def told(made):
    ppo = made.ppo
    return (ppo.total_steps, ppo.environments, ppo.minibatches, ppo.learning_rate, ppo.entropy, ppo.gae_decay)


def test_settings_are_those_of_the_papers_tables():
    assert told(recipe(ROOM, "sp", memory=False)) == (10_000_000, 64, 16, 4e-4, 0.04, 0.95)
    assert told(recipe(GROUNDED, "sp", memory=False)) == (30_000_000, 256, 64, 2.5e-4, 0.01, 0.95)
    assert told(recipe(GROUNDED, "op-ing", memory=False)) == (50_000_000, 64, 64, 2.5e-4, 0.02, 0.95)
    fcp = recipe(GROUNDED, "fcp", memory=False)
    assert told(fcp) == (30_000_000, 256, 64, 7e-4, 0.04, 0.9)
    assert fcp.population == 8
    assert told(recipe("overcooked-v2-cramped-room-v2", "sp", memory=False))[:5] == (10_000_000, 256, 64, 5e-4, 0.01)
    for made in (recipe(ROOM, "sa", memory=False), recipe(GROUNDED, "sa", memory=False)):
        assert (made.rollouts, made.untrained_start) == (10, True)
        assert (made.ppo.cosine, made.ppo.warm_up_share, made.ppo.shaping_share) == (True, 0.05, 0.5)
        assert Recipe.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert recipe(ROOM, "sp", memory=False).network == overcooked.OLD_NETWORK
    assert recipe(GROUNDED, "sp", memory=False).network == overcooked.NETWORK


def test_ids_that_mean_the_same_game_are_trained_as_one():
    assert recipe(f"{GROUNDED},sight=2", "sp", memory=False).game == GROUNDED


def test_other_play_on_one_ingredient_and_beliefs_are_refused():
    with pytest.raises(RecipeError, match="has no symmetries for op-ing: choose one of sp, he, obl, sa, fcp"):
        recipe(ROOM, "op-ing", memory=False)
    with pytest.raises(RecipeError, match="does not say what is hidden in it, which obl believes in"):
        recipe(ROOM, "obl", memory=False)


@pytest.mark.parametrize(("method", "seeds"), [("sp", (0,)), ("sa", (0, 1)), ("op-ing", (0,)), ("fcp", (0,))])
def test_a_training_stops_goes_on_and_leaves_a_policy(method, seeds, tmp_path):
    game = f"{GROUNDED},steps=10"
    own = {"rollouts": 1} if method == "sa" else {"population": 1} if method == "fcp" else {}
    made = adapted(recipe(game, method, "reduced", memory=False), NETWORK, {**PPO, "total_steps": 64}, **own)
    plan = TrainingPlan(made, seeds, tmp_path)
    for _ in range(8):
        if method_training.train(plan, 0.0, lambda standing: None):
            break
    about = checkpoint.load_about(tmp_path / f"{method}-s0")
    assert (about["game"], about["method"], about["steps"]) == (game, method, 64)
    line = training_log.read(tmp_path / "fcp-s0" if method == "fcp" else tmp_path)[-1]
    assert line["LEN"] == 10.0
    assert line["episodes"] > 0
    assert jnp.isfinite(line["return"])
