"""Batched predators and prey: what is told of a hunt."""

import jax
import jax.numpy as jnp
import numpy as np

from games.batched.posg.game import rules
from games.batched.posg.predator_prey.rules import HuntArrays


def test_figures_tell_how_many_prey_were_caught():
    hunt = HuntArrays(np.array([0, 1]), np.array([10, 11, 55]), np.array([True, True, False]), np.zeros(3, bool))
    told = rules("predator-prey").figures(jax.tree.map(jnp.asarray, hunt))
    assert (int(told["captures"]), bool(told["cleared"])) == (2, False)
    assert rules("predator-prey").described(hunt) == (0, 1, 10, 11, 55, 3, 0)
