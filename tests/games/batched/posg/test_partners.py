"""Hand-written policies in lanes play whole games as well as their references do, and sit beside networks."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched import registry
from games.batched.posg.game import partners, rules
from games.batched.registry import SIMULTANEOUS
from games.batched.wrappers import AutoReset
from games.posg import registry as references
from games.posg.policies import play_policies
from search.learn.methods.population import FictitiousPartners
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig

LANES = 4_096
GAMES = 300
PAIRS = {
    "cooperative-reaching": ("H7", "H4"),
    "driving": ("A60", "A100"),
    "foraging": ("H1", "H5"),
    "foraging-random": ("H3", "H2"),
    "predator-prey": ("H3", "H2"),
    "pursuit-evasion": ("shortest-path", "shortest-path"),
}


def returns(game_id, names):
    """Returns what agents get in batched games, one row a game."""
    game = registry.make(game_id)
    env = game.env("default")
    policies = [partners(game_id)[name] for name in names]

    def step(carry, key):
        state, memories, total = carry
        keys = jax.random.split(key, (3, LANES))
        seen, legal = env.observe(state), env.legal_mask(state)
        played = [
            policy.act((), memory, seen[:, agent], legal[:, agent], keys[agent])
            for agent, (policy, memory) in enumerate(zip(policies, memories, strict=True))
        ]
        state, paid = env.step(state, jnp.stack([actions for _, actions in played], axis=1), keys[2])
        return (state, [memory for memory, _ in played], total + paid.reward), None

    @jax.jit
    def play(key):
        begin, follow = jax.random.split(key)
        memories = [policy.initial(LANES) for policy in policies]
        carry = env.init(jax.random.split(begin, LANES)), memories, jnp.zeros((LANES, 2))
        return jax.lax.scan(step, carry, jax.random.split(follow, game.max_length))[0][2]

    return np.asarray(play(jax.random.key(1)))


@pytest.mark.slow
@pytest.mark.parametrize("game_id", SIMULTANEOUS)
def test_policies_get_as_much_as_their_references(game_id):
    names, model, rng = PAIRS[game_id], rules(game_id).model, random.Random(1)
    known = references.policies(game_id, model)
    expected = np.array([play_policies(model, [known[name] for name in names], rng).returns for _ in range(GAMES)])
    found = returns(game_id, names)
    error = np.sqrt(found.var(axis=0) / LANES + expected.var(axis=0) / GAMES)
    assert (np.abs(found.mean(axis=0) - expected.mean(axis=0)) < 4 * error + 1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize("game_id", ["driving", "pursuit-evasion"])
def test_policies_are_members_of_a_population_that_a_learner_meets(game_id):
    game = registry.make(game_id)
    env, members = game.env("default"), [(policy, ()) for policy in game.partners().values()]
    network = ActorCritic(NetworkConfig(encoder="mlp", core="none", hidden=8, filters=8, layers=1), env.num_actions)
    example = jnp.zeros((1, 1, *env.image_shape))
    population = jax.vmap(lambda key: network.init(key, example))(jax.random.split(jax.random.key(0), 1))
    resetting = AutoReset(FictitiousPartners(env, network, population, members))

    def step(state, key):
        draw, following = jax.random.split(key)
        actions = resetting.env.sample(state, jax.random.uniform(draw, (8,)))
        return resetting.step(state, actions, jax.random.split(following, 8))

    keys = jax.random.split(jax.random.key(2), 2 * game.max_length)
    _, paid = jax.jit(lambda state: jax.lax.scan(step, state, keys))(resetting.init(keys[:8]))
    assert int(paid.done.sum()) >= 8
    assert not paid.info["illegal"].any()
