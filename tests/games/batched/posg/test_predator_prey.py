"""Batched predators and prey: both variants, and what is told of a hunt."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.posg.chance import answering
from games.batched.posg.game import rules
from games.batched.posg.predator_prey.rules import HuntArrays, PredatorPreyRules
from games.posg.predator_prey.model import ACTIONS, PredatorPrey


def test_figures_tell_how_many_prey_were_caught():
    hunt = HuntArrays(np.array([0, 1]), np.array([10, 11, 55]), np.array([True, True, False]), np.zeros(3, bool))
    told = rules("predator-prey").figures(jax.tree.map(jnp.asarray, hunt))
    assert (int(told["captures"]), bool(told["cleared"])) == (2, False)
    assert rules("predator-prey").described(hunt) == (0, 1, 10, 11, 55, 3, 0)


@pytest.mark.slow
def test_prey_flee_as_documented_where_the_reference_does():
    model = PredatorPrey("documented")
    documented = PredatorPreyRules(model)
    rng = np.random.default_rng(5)
    step = jax.jit(documented.move)
    for _ in range(2_000):
        cells, caught = rng.choice(100, 5, replace=False).astype(np.int32), rng.random(3) < 0.2
        game = HuntArrays(cells[:2], cells[2:], caught, caught)
        actions = rng.integers(0, 5, 2)
        bits = rng.integers(0, 2**32, len(documented.step_draws), np.uint32)
        if caught.all():
            continue
        after, paid = jax.tree.map(np.asarray, step(game, actions, bits))
        joint = tuple(ACTIONS[action] for action in actions)
        wanted, reward, _ = model.move(documented.described(game), joint, answering(documented.step_draws, bits))
        assert documented.described(after) == wanted
        np.testing.assert_allclose(paid, reward, atol=1e-6)
