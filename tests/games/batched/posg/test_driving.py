"""Batched driving: who drives first is drawn, and how vehicles end is told."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.posg.driving.rules import TrafficArrays
from games.batched.posg.environment import SimultaneousEnv, SimultaneousState
from games.batched.posg.game import rules

ACCELERATE, BRAKE = 1, 2
EAST, WEST, STANDING = 4, 12, 1
LANES = 2048


@pytest.fixture(scope="module")
def play():
    """Plays a step of many games that are alike, and returns the games, what was paid, and what came of them."""
    env = SimultaneousEnv(rules("driving"))

    @jax.jit
    def played(first, second, actions, keys):
        cell = jnp.array([first >> 4, second >> 4])
        far = jnp.asarray(env.rules.model.roads().far)[jnp.array([0, 3]), cell]
        game = TrafficArrays(jnp.array([first, second]), jnp.array([0, 3]), jnp.zeros(2, jnp.int32), far, far)
        one = SimultaneousState(game, jnp.zeros(2), jnp.zeros((), jnp.int32))
        state = jax.tree.map(lambda leaf: jnp.repeat(leaf[..., None], LANES, axis=-1), one)
        after, paid = env.step(state, jnp.broadcast_to(actions, (LANES, 2)), keys)
        return after.game, paid, env.outcome(after).figures

    return lambda *given: played(*given, jax.random.split(jax.random.key(5), LANES))


def test_of_two_who_want_one_cell_each_is_first_in_half_of_the_steps(play):
    row = 6 * 14
    game, paid, figures = play((row << 4) + EAST + STANDING, (row + 2 << 4) + WEST + STANDING, np.array([1, 1]))
    first = np.asarray(game.pose[0] >> 4) == row + 1
    assert ((np.asarray(game.pose[1] >> 4) == row + 1) == ~first).all()
    assert abs(first.mean() - 0.5) < 0.05
    assert paid.done.all()
    assert (paid.reward < -0.9).all()
    assert (figures["crash"] == 1.0).all()
    assert (figures["success"] == 0.0).all()


def test_a_vehicle_that_arrives_is_done_and_the_game_goes_on(play):
    roads = rules("driving").model.roads()
    beside = roads.ends[0] + 1
    game, paid, figures = play((beside << 4) + WEST + STANDING, (6 * 14 << 4) + EAST + STANDING, np.array([1, 0]))
    assert (game.ended == np.array([[1], [0]])).all()
    np.testing.assert_allclose(paid.reward, np.array([[1.0, 0.0]] * LANES))
    assert not paid.done.any()
    assert {name: float(values[0]) for name, values in figures.items()} == {
        "success": 0.5,
        "crash": 0.0,
        "timeout": 0.5,
        "return vehicle_0": 1.0,
        "return vehicle_1": 0.0,
    }
