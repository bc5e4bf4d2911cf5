"""A learned belief about random players of Yōkai against the exact posterior."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.yokai.environment import make
from games.batched.yokai.hidden import YokaiHidden
from search.learn.beliefs.belief_model import BeliefModel
from search.learn.beliefs.belief_training import BeliefTrainer, BeliefTrainingConfig
from search.learn.beliefs.hidden import UNKNOWN
from search.learn.networks.belief import BeliefConfig
from search.learn.networks.heads.uniform import UniformPolicy
from search.learn.ppo.rollout import by_lane, observe
from tests.oracles.exact_beliefs import assignments, marginals, no_evidence, posterior

LANES, STEPS = 16, 12
CONFIG = BeliefTrainingConfig(
    total_steps=64 * 32 * 80, environments=64, steps=32, minibatches=4, learning_rate=2e-3, max_grad_norm=1.0
)


def random_play(env):
    """Returns what players see in random games, [T, L, ...], and what they know, [T, L, Y]."""

    def step(state, key):
        following, _ = env.step(state, env.sample(state, jax.random.uniform(key, (LANES,))))
        return following, (observe(env, state), by_lane(YokaiHidden(env.sizes).known(state)))

    start = env.init(jax.random.split(jax.random.key(77), LANES))
    return jax.jit(lambda: jax.lax.scan(step, start, jax.random.split(jax.random.key(78), STEPS))[1])()


def distances(env, model, params, seen, known):
    """Returns the total variation between exact and learned marginals of every unknown card."""
    every = jnp.asarray(assignments(env.sizes))
    evidence = no_evidence(env.sizes)

    def of_position(features, known):
        exact = posterior(evidence._replace(known=known), truthful=None)
        likelihood = jnp.exp(model.log_likelihood(params, features, known, every).sum(axis=-1))
        found = jnp.where(exact > 0, likelihood, 0)
        return found.sum(), 0.5 * jnp.abs(marginals(exact) - marginals(found)).sum(axis=-1)

    @jax.jit
    def compare():
        starts = jnp.zeros(known.shape[:2], bool).at[0].set(True)
        _, features = model.read(params, model.initial_memory(known.shape[1]), seen, starts)
        return jax.vmap(jax.vmap(of_position))(features, known)

    total, found = compare()
    np.testing.assert_allclose(total, 1, atol=1e-3)
    return np.asarray(found)[np.asarray(known) == UNKNOWN]


@pytest.mark.slow
def test_a_belief_trained_on_random_players_comes_close_to_the_exact_posterior():
    env = make("yokai-8c-2p", memory=True)
    hidden = YokaiHidden(env.sizes)
    model = BeliefModel(BeliefConfig("mlp", 64, 1, 64, head_scale=10.0), hidden.counts)
    training = BeliefTrainer(lambda _: env, hidden, UniformPolicy(env.num_actions), model, CONFIG)
    seen, known = random_play(env)
    state = training.init([0])
    before = distances(env, model, jax.tree.map(lambda leaf: leaf[0].copy(), state.params), seen, known)
    state, found = training.run(state, {}, CONFIG.updates)
    after = distances(env, model, jax.tree.map(lambda leaf: leaf[0], state.params), seen, known)
    assert before.mean() > 0.2
    assert after.mean() < 0.05
    per_slot = np.asarray(found.per_slot)[0]
    assert per_slot[-1] < per_slot[0] - 0.05
