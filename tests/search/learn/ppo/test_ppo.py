from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from search.learn.errors import PpoConfigError
from search.learn.ppo import ppo, rollout
from search.learn.ppo.ppo import Learner
from search.learn.ppo.returns import normalised
from search.learn.ppo.rollout import Progress

ALPHA = jnp.float32(0.02)


@pytest.fixture(scope="module")
def network(small_network):
    return small_network("rnn")


@pytest.fixture(scope="module")
def played(recall, network, small_config):
    """Returns parameters and a rollout of 16 lanes."""
    config = small_config()

    @jax.jit
    def begin(key, seed):
        runner = rollout.begin(recall, network, config.environments, key)
        return runner, network.init(seed, jax.tree.map(lambda leaf: leaf[None], rollout.observe(recall, runner.games)))

    runner, params = begin(jax.random.key(0), jax.random.key(1))
    collect = jax.jit(rollout.collector(lambda _: recall, network, config))
    return jax.tree.map(np.asarray, (params, collect(params, runner, (), Progress(jnp.float32(1)))[1]))


@pytest.fixture(scope="module")
def learn(network, played):
    """Returns a function config -> the learner and losses after one update."""
    params, batch = played

    def run(config):
        @jax.jit
        def update(params, batch, key):
            learner = Learner(params, ppo.optimiser(config).init(params))
            return ppo.update(learner, network, batch, config, ALPHA, key)

        return update(params, batch, jax.random.key(2))

    return run


def test_first_minibatch_finds_the_policy_that_played(network, played, small_config):
    params, batch = played
    part = jax.jit(ppo.part_of)(batch, np.array([[3, 0, 7, 12]]))
    _, found = jax.jit(lambda part: ppo.loss(params, network, part, part.advantage, small_config(), ALPHA))(part)
    assert abs(found.divergence) < 1e-6
    assert found.clipped == 0
    np.testing.assert_allclose(found.policy, -part.advantage.mean(), atol=1e-6)


def test_lanes_are_taken_whole(played):
    _, batch = played
    part = jax.jit(ppo.part_of)(batch, np.array([[5, 1]]))
    np.testing.assert_array_equal(part.memory, batch.memory[[5, 1]])
    np.testing.assert_array_equal(part.observation, batch.observation[:, [5, 1]])
    np.testing.assert_array_equal(part.legal, batch.legal[:, [5, 1]])
    np.testing.assert_array_equal(part.target, batch.target[:, [5, 1]])


def test_every_share_gives_its_own_lanes(played):
    _, batch = played
    part = jax.jit(ppo.part_of)(batch, np.array([[5, 1], [0, 7]]))
    lanes = [5, 1, 8, 15]
    np.testing.assert_array_equal(part.memory, batch.memory[lanes])
    np.testing.assert_array_equal(part.observation, batch.observation[:, lanes])
    np.testing.assert_array_equal(part.action, batch.action[:, lanes])


@pytest.mark.parametrize("accumulate", [1, 2])
def test_all_lanes_in_one_minibatch_teach_the_same_in_any_shares(network, played, small_config, accumulate):
    params, batch = played
    config = small_config(epochs=1, minibatches=1, accumulate=accumulate)

    @partial(jax.jit, static_argnums=0)
    def update(shares, key):
        learner = Learner(params, ppo.optimiser(config).init(params))
        return ppo.update(learner, network, batch, config, ALPHA, key, shares)[0]

    one, four = (update(shares, jax.random.key(0)) for shares in (1, 4))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-6), one.params, four.params)


def test_shares_that_minibatches_do_not_divide_are_refused(small_config):
    config = small_config(minibatches=4)
    config.check_lanes(16, 4)
    with pytest.raises(
        PpoConfigError, match=r"^16 sequences .* 4 minibatches of 1 pieces in each of 8 shares .*, or fewer devices"
    ):
        config.check_lanes(16, 8)


def test_one_pass_over_one_minibatch_is_one_step_down_the_slope_of_all_lanes(network, played, learn, small_config):
    params, batch = played
    config = small_config(epochs=1, minibatches=1)
    learner, _ = learn(config)
    advantage = jax.jit(normalised)(batch.advantage)
    steps = ppo.optimiser(config)

    def step(params):
        slope = jax.grad(lambda params: ppo.loss(params, network, batch, advantage, config, ALPHA)[0])(params)
        change, _ = steps.update(slope, steps.init(params), params)
        return optax.apply_updates(params, change)

    # Adam divides by the slope's own size, so rounding shows where that is tiny.
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-6), learner.params, jax.jit(step)(params))
    moved = jax.tree.map(lambda a, b: np.abs(a - b).max(), learner.params, params)
    assert max(jax.tree.leaves(moved)) > 1e-4


def test_steps_that_are_not_judged_change_nothing(network, played, small_config):
    params, batch = played
    config = small_config(epochs=1, minibatches=1)
    judged = np.random.default_rng(7).random(batch.action.shape) < 0.5

    @jax.jit
    def update(batch):
        learner = Learner(params, ppo.optimiser(config).init(params))
        return ppo.update(learner, network, batch, config, ALPHA, jax.random.key(2))

    def told(advantage, target):
        changed = {"advantage": batch.advantage - 3, "target": batch.target}
        others = {"advantage": advantage, "target": target}
        return batch._replace(
            judged=judged, **{name: np.where(judged, changed[name], others[name]) for name in changed}
        )

    (one, losses), (other, same) = update(told(0.0, batch.value)), update(told(1e3, batch.value - 5))
    jax.tree.map(np.testing.assert_array_equal, one.params, other.params)
    np.testing.assert_array_equal(losses.total, same.total)


@pytest.mark.slow
def test_gradients_summed_up_in_pieces_change_nothing_but_rounding(learn, small_config):
    whole, losses = learn(small_config())
    summed, same = learn(small_config(accumulate=4))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=5e-6), whole.params, summed.params)
    np.testing.assert_allclose(np.array(losses), np.array(same), atol=1e-5)


def test_every_lane_is_in_one_minibatch_of_a_pass(network, played, small_config):
    params, batch = played
    config = small_config(epochs=3, minibatches=4, learning_rate=1e-30)
    number = np.arange(16, dtype=np.float32)
    marked = batch._replace(value=np.zeros_like(batch.value) + number, target=np.zeros_like(batch.value) + number)

    def losses(key):
        learner = Learner(params, ppo.optimiser(config).init(params))
        return ppo.update(learner, network, marked, config, ALPHA, key)[1].value

    found = jax.jit(jax.vmap(losses))(jax.random.split(jax.random.key(0), 3))
    _, outputs = jax.jit(network.apply)(params, batch.memory, batch.observation, batch.starts)
    # A value clipped around the old one, its target, is off by 0.2 at most.
    off = np.asarray(outputs.values) - number
    far = np.maximum(off**2, np.clip(off, -0.2, 0.2) ** 2)
    np.testing.assert_allclose(found, np.full(3, far.mean() / 2), rtol=1e-5)


def test_rate_falls_linearly_to_0_and_stays_there(small_config):
    config = small_config(learning_rate=0.5, adam_epsilon=0.0, max_grad_norm=1e9)
    steps = ppo.optimiser(config)
    weight = jnp.ones(())
    state = steps.init(weight)
    # With a constant slope, Adam moves by the rate itself.
    move = jax.jit(lambda state: steps.update(jnp.ones(()), state, weight))
    found = []
    for _ in range(4 * (config.updates + 1)):
        change, state = move(state)
        found.append(-change)
    wanted = np.repeat([0.5 * (1 - update / config.updates) for update in range(config.updates)] + [0.0], 4)
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-9)
    constant = ppo.optimiser(small_config(learning_rate=0.5, adam_epsilon=0.0, anneal_learning_rate=False))
    change, _ = jax.jit(lambda slope: constant.update(slope, constant.init(weight), weight))(0.25)
    np.testing.assert_allclose(change, -0.5, rtol=1e-5)


def test_rate_rises_in_the_warm_up_and_falls_along_a_cosine(small_config):
    given = small_config(learning_rate=0.5)
    each = given.epochs * given.minibatches
    total = given.updates * each
    config = small_config(learning_rate=0.5, warm_up_share=0.25, cosine=True)
    counts = np.array([0, total // 8, total // 4, total // 4 + 3 * total // 8, total, 2 * total])
    found = [float(ppo.learning_rate(config, jnp.int32(count))) for count in counts]
    np.testing.assert_allclose(found, [0.0, 0.25, 0.5, 0.25, 0.0, 0.0], atol=1e-6)
    linear = small_config(learning_rate=0.5, warm_up_share=0.25)
    found = [float(ppo.learning_rate(linear, jnp.int32(count))) for count in counts]
    np.testing.assert_allclose(found, [0.0, 0.25, 0.5, 0.25, 0.0, 0.0], atol=1e-6)
    kept = small_config(learning_rate=0.5, warm_up_share=0.25, anneal_learning_rate=False)
    found = [float(ppo.learning_rate(kept, jnp.int32(count))) for count in counts]
    np.testing.assert_allclose(found, [0.0, 0.25, 0.5, 0.5, 0.5, 0.5], atol=1e-6)


@pytest.mark.slow
def test_computing_in_bfloat16_keeps_float32_parameters(recall, small_network, small_config, played):
    params, batch = played
    network, config = small_network("rnn", bfloat16=True), small_config()
    learner = Learner(params, ppo.optimiser(config).init(params))
    update = jax.jit(lambda learner, key: ppo.update(learner, network, batch, config, ALPHA, key))
    after, losses = update(learner, jax.random.key(2))
    floats = [leaf for leaf in jax.tree.leaves(after) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    assert all(leaf.dtype == jnp.float32 for leaf in floats)
    assert all(np.isfinite(leaf).all() for leaf in floats)
    assert 0 < losses.divergence < 0.01
