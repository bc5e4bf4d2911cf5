"""Batched foraging: who lifts what, and what is left."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.posg.environment import SimultaneousEnv, SimultaneousState
from games.batched.posg.foraging.rules import FieldArrays
from games.batched.posg.game import rules

STAY, NORTH, SOUTH, WEST, EAST, LOAD = range(6)


@pytest.fixture(scope="module")
def play():
    """What plays a step on a field with food of level 3 in cell 44 and of level 1 in cell 46, of 10 levels in all."""
    env = SimultaneousEnv(rules("foraging"))

    @jax.jit
    def played(cells, levels, actions):
        place, weight = jnp.arange(8).at[jnp.array([0, 1])].set(jnp.array([44, 46])), jnp.array([3, 1] + [0] * 6)
        game = FieldArrays(cells, levels, place, weight, jnp.array(10), jnp.array(6))
        state = SimultaneousState(game, jnp.zeros(2), jnp.array(0))
        after, paid = env.step(state, actions, jax.random.key(0))
        return after.game, paid, env.outcome(after).figures, env.observe(after)[:, 0, 0].reshape(2, 10, 3)

    return lambda *given: played(*map(np.array, given))


def test_two_lift_what_neither_can_alone_and_are_paid_by_their_levels(play):
    game, paid, figures, seen = play([43, 45], [2, 1], [LOAD, LOAD])
    np.testing.assert_allclose(paid.reward, [0.2, 0.2])  # the second lifts the food beside it on the other side, too
    assert game.weight.tolist() == [0] * 8
    assert bool(paid.done)
    assert (int(figures["eaten"]), bool(figures["cleared"])) == (8, True)
    assert seen[0].tolist() == [[2, 2, 2], [4, 2, 1], *[[-1, -1, 0]] * 8]


def test_one_alone_lifts_what_it_can_and_nobody_walks_over_food_or_onto_another(play):
    game, paid, figures, seen = play([43, 45], [2, 1], [EAST, LOAD])
    assert game.cell.tolist() == [43, 45]
    np.testing.assert_allclose(paid.reward, [0.0, 0.1])
    assert int(figures["eaten"]) == 7
    assert not paid.done
    assert seen[1].tolist() == [[2, 2, 1], [0, 2, 2], [1, 2, 3], *[[-1, -1, 0]] * 7]
    blocked, *_ = play([34, 25], [1, 1], [EAST, SOUTH])
    assert blocked.cell.tolist() == [34, 25]
