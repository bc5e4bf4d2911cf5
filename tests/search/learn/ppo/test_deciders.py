"""Where one player decides at a time, the policy learns from its steps alone, with the slopes that all steps give."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.yokai.environment import make
from search.learn.errors import PpoConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.networks.heads.uniform import UniformPolicy
from search.learn.play.seats import deciding, of_decider
from search.learn.ppo import ppo, rollout
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.losses import combine
from search.learn.ppo.ppo import Learner
from search.learn.ppo.returns import normalised
from search.learn.ppo.rollout import Progress
from search.learn.ppo.training import Trainer

GAMES, PLAYERS, STEPS = 4, 2, 10
CONFIG = PpoConfig(
    total_steps=1000, environments=GAMES, steps=STEPS, epochs=1, minibatches=1, anneal_learning_rate=False
)
ALPHA = jnp.float32(0.02)
env = make("yokai-8c-2p", memory=True)
network = ActorCritic(
    NetworkConfig("mlp", "gru", hidden=8, filters=8, layers=1, extra_layers=1, head_scale=1.0), env.num_actions
)


@pytest.fixture(scope="module")
def played():
    """Returns parameters and the same steps told with deciders."""

    @jax.jit
    def begin(key, seed):
        runner = rollout.begin(env, network, GAMES, key)
        return runner, network.init(seed, rollout.observe(env, runner.games)[None])

    runner, params = begin(jax.random.key(0), jax.random.key(1))
    collect = jax.jit(rollout.collector(lambda _: env, network, CONFIG, one_decides=True))
    return jax.tree.map(np.asarray, (params, collect(params, runner, (), Progress(jnp.float32(1)))[1]))


def test_the_part_of_the_decider_is_taken():
    values = jnp.arange(2 * 6 * 2).reshape(2, 6, 2)
    found = of_decider(values, jnp.array([[0, 1, 1], [1, 0, 0]]))
    assert found.tolist() == [[[0, 1], [6, 7], [10, 11]], [[14, 15], [16, 17], [20, 21]]]


def test_deciders_are_those_with_a_choice(played):
    _, batch = played
    choices = batch.legal.sum(axis=-1).reshape(STEPS, GAMES, PLAYERS)
    assert ((choices > 1).sum(axis=-1) == 1).all()
    np.testing.assert_array_equal(batch.deciders, (choices > 1).argmax(axis=-1))
    assert {0, 1} == set(np.unique(batch.deciders).tolist())


def test_where_nobody_has_a_choice_the_first_is_named():
    player, anybody = deciding(jnp.array([[[True, False], [False, True]], [[True, False], [True, True]]]))
    assert player.tolist() == [0, 1]
    assert anybody.tolist() == [False, True]


@pytest.mark.parametrize("asked", [network, UniformPolicy(env.num_actions)])
def test_logits_of_deciders_are_those_among_all(played, asked):
    params, batch = played
    params = params if asked is network else {}
    memory = batch.memory if asked is network else ()
    apply = jax.jit(asked.apply)
    every = apply(params, memory, batch.observation, batch.starts)[1]
    some = apply(params, memory, batch.observation, batch.starts, batch.deciders)[1]
    of_deciders = jax.jit(of_decider)
    np.testing.assert_allclose(some.logits, of_deciders(every.logits, batch.deciders), atol=1e-6)
    np.testing.assert_allclose(some.features, of_deciders(every.features, batch.deciders), atol=1e-6)
    np.testing.assert_allclose(some.values, every.values, atol=1e-6)


def test_slopes_and_losses_are_those_of_all_steps(played):
    params, batch = played
    advantage = np.asarray(jax.jit(normalised)(batch.advantage))
    loss = jax.jit(
        jax.grad(lambda params, batch: ppo.loss(params, network, batch, advantage, CONFIG, ALPHA), has_aux=True)
    )
    (few, told), (many, known) = loss(params, batch), loss(params, batch._replace(deciders=None))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-6), few, many)
    assert max(np.abs(leaf).max() for leaf in jax.tree.leaves(few)) > 1e-3
    # The others' share of the surrogate is constant.
    for name in ("value", "entropy", "divergence", "clipped"):
        np.testing.assert_allclose(getattr(told, name), getattr(known, name), atol=1e-6)
    of_deciders = np.asarray(jax.jit(of_decider)(advantage, batch.deciders))
    np.testing.assert_allclose(told.policy, -of_deciders.sum() / advantage.size, atol=1e-5)


def test_one_update_is_that_of_all_steps(played):
    params, batch = played

    @jax.jit
    def update(batch):
        learner = Learner(params, ppo.optimiser(CONFIG).init(params))
        return ppo.update(learner, network, batch, CONFIG, ALPHA, jax.random.key(2))

    few, many = update(batch)[0], update(batch._replace(deciders=None))[0]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=5e-6), few.params, many.params)


def test_players_of_a_game_stay_together(played):
    _, batch = played
    part = jax.jit(ppo.part_of)(batch, np.array([[3, 1]]))
    lanes = [6, 7, 2, 3]
    np.testing.assert_array_equal(part.deciders, batch.deciders[:, [3, 1]])
    np.testing.assert_array_equal(part.memory, batch.memory[lanes])
    np.testing.assert_array_equal(part.action, batch.action[:, lanes])
    np.testing.assert_array_equal(part.observation, batch.observation[:, lanes])


def test_every_share_gives_its_own_games(played):
    _, batch = played
    part = jax.jit(ppo.part_of)(batch, np.array([[1], [0]]))
    np.testing.assert_array_equal(part.deciders, batch.deciders[:, [1, 2]])
    np.testing.assert_array_equal(part.action, batch.action[:, [2, 3, 4, 5]])


def test_steps_without_a_choice_count_as_0():
    weighed = jax.jit(lambda *told: combine(*told, 0.05, 0.5, 0.1))
    whole = weighed(np.array([0.0, 0.1], np.float32), *np.float32([[0, 0], [1, 1], [0, 2]]))
    short = weighed(np.array([0.1], np.float32), np.float32([0]), np.float32([1, 1]), np.float32([2]))
    np.testing.assert_allclose(np.array(short), np.array(whole), rtol=1e-6)
    assert short.entropy == 1
    assert short.clipped == 0.5


def test_games_that_cannot_be_shared_out_are_refused_though_lanes_could():
    config = PpoConfig(total_steps=1000, environments=3, steps=2, minibatches=2)
    with pytest.raises(PpoConfigError, match="3 sequences"):
        Trainer(lambda _: env, network, config, one_decides=True).init([0])


def test_deciders_of_games_that_others_play_are_refused():
    collect = rollout.collector(lambda _: env, network, CONFIG)
    with pytest.raises(PpoConfigError, match="leave out collect"):
        Trainer(lambda _: env, network, CONFIG, collect, one_decides=True)
