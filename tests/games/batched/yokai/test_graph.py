import jax
import numpy as np
import pytest

from games.batched.yokai.graph import YokaiGraphEnv

CARDS, PLAYERS, LANES = 9, 3, 4


@pytest.fixture(scope="module")
def env():
    return YokaiGraphEnv(CARDS, PLAYERS)


@pytest.fixture(scope="module")
def state(env):
    """Games that are three random moves old."""

    def play(keys, uniforms):
        def step(state, uniform):
            return env.step(state, env.sample(state, uniform))[0], None

        return jax.lax.scan(step, env.init(keys), uniforms)[0]

    uniforms = jax.random.uniform(jax.random.key(1), (3, LANES))
    return jax.jit(play)(jax.random.split(jax.random.key(0), LANES), uniforms)


def test_every_player_gets_its_nodes_and_the_adjacency_of_its_game(env, state):
    seen, shared = jax.jit(lambda state: (env.observe(state), env.observe_graph(state)))(state)
    np.testing.assert_array_equal(seen.nodes, shared.nodes)
    assert seen.adjacency.shape == (LANES, PLAYERS, CARDS, CARDS)
    assert seen.nodes.shape[:2] == (LANES, PLAYERS)
    for player in range(PLAYERS):
        np.testing.assert_array_equal(seen.adjacency[:, player], shared.adjacency)


def test_one_game_without_lanes_is_seen_as_in_a_batch(env, state):
    show = jax.jit(env.observe)
    together = show(state)
    one = show(jax.tree.map(lambda leaf: leaf[..., 2], state))
    np.testing.assert_array_equal(one.nodes, together.nodes[2])
    np.testing.assert_array_equal(one.adjacency, together.adjacency[2])
