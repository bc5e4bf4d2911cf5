from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.beliefs.beliefs import UniformBelief
from search.learn.errors import OffBeliefError
from search.learn.methods.off_belief import BelievingNetwork, Fiction, FictitiousConfig, collector
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play.seats import deciding
from search.learn.ppo import rollout
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.rollout import Progress

from .conftest import COUNTS, Bits, BitSlots, Scripted, Secret

DISCOUNT = 0.5
ONE_GAME = np.ones(1, np.int32)


@cache
def targets(horizon, decay):
    """Returns the compiled targets of one game; player 1 sees the bit."""
    fiction = Fiction(Bits(), Scripted(), DISCOUNT, FictitiousConfig(horizon, decay))

    @jax.jit
    def judge(games, actions, player):
        return fiction.targets({}, games, (), actions, player, jnp.zeros(()), jax.random.key(0))

    return judge


def target(bit, clock, said, horizon=8, decay=0.0):
    """Returns the target of saying `said` at a clock where the fiction's bit is `bit`; player 1 sees it."""
    games = Secret(bit * ONE_GAME, clock * ONE_GAME, 0 * ONE_GAME, 0.0 * ONE_GAME)
    player = clock % 2
    actions = np.zeros((1, 2), np.int32)
    actions[0, player] = said + 1
    return float(targets(horizon, decay)(games, actions, player * ONE_GAME)[0])


@pytest.mark.parametrize(
    ("bit", "clock", "said", "expected"),
    [
        (1, 0, 1, 1 + DISCOUNT * 2 + DISCOUNT**2 * 12),
        (1, 0, 0, 0 + DISCOUNT * 2 + DISCOUNT**2 * 12),
        (0, 0, 0, 1 + DISCOUNT * 2 + DISCOUNT**2 * 12),
        (0, 1, 0, 2 + DISCOUNT * 3),
        (1, 1, 0, 0 + DISCOUNT * 0),
        (0, 2, 0, 3),
        (1, 2, 0, 0),
    ],
)
def test_target_is_what_is_paid_until_the_players_next_decision_and_the_value_there(bit, clock, said, expected):
    assert target(bit, clock, said) == pytest.approx(expected)


def test_the_critic_is_asked_at_the_horizon_at_the_latest():
    assert target(1, 0, 1, horizon=1) == pytest.approx(1 + DISCOUNT * 11)
    assert target(1, 0, 1, horizon=2) == target(1, 0, 1, horizon=8)


@pytest.mark.parametrize("decay", [0.0, 0.25, 1.0])
def test_later_decisions_count_by_the_decay_up_to_the_horizon(decay):
    later = (1 - decay) * 12 + decay * 3
    assert target(0, 0, 0, horizon=3, decay=decay) == pytest.approx(1 + DISCOUNT * 2 + DISCOUNT**2 * later)
    assert target(0, 0, 0, horizon=2, decay=decay) == pytest.approx(1 + DISCOUNT * 2 + DISCOUNT**2 * 12)


def test_who_has_a_choice_decides():
    legal = np.array([[[1, 0], [1, 1]], [[1, 1], [0, 1]], [[1, 0], [0, 1]]], bool)
    player, anybody = deciding(legal)
    np.testing.assert_array_equal(player[:2], [1, 0])
    np.testing.assert_array_equal(anybody, [True, True, False])


@cache
def collecting(network, environments):
    """Returns what collects 7 steps of games, compiled once for whoever may see the bit."""
    env, config = Bits(), PpoConfig(7 * environments, environments=environments, steps=7, discount=DISCOUNT)
    believing = BelievingNetwork(network, UniformBelief(COUNTS))

    @jax.jit
    def run(key, seers):
        collect = collector(lambda context: env, believing, BitSlots(seers), config, FictitiousConfig(8))
        runner = rollout.begin(env, believing, environments, key)
        params = believing.init(key, rollout.observe(env, runner.games)[None])
        runner, batch, episodes = collect(params, runner, (), Progress(jnp.zeros(())))
        return runner.memory, batch, episodes

    return run


SCRIPTED = Scripted()


def played(seers=(1, 1), network=SCRIPTED, environments=64):
    """Returns the memory after what an off-belief learner collects, the batch, and the finished games."""
    run = collecting(network, environments)
    return jax.tree.map(np.asarray, run(jax.random.key(3), np.array(seers, np.int32)))


def rows_of(batch):
    """Returns observations [T, E, P, channels], and actions, targets, values and advantages [T, E, P]."""
    shape = (len(batch.action), batch.action.shape[1] // 2, 2)
    numbers = [array.reshape(shape) for array in (batch.action, batch.target, batch.value, batch.advantage)]
    return batch.observation[..., 0, 0, :].reshape(*shape, -1), *numbers


def test_with_the_truth_as_belief_targets_are_one_turn_bootstrapped_returns():
    _, batch, episodes = played(seers=(0, 1))
    seen, action, target, value, advantage = rows_of(batch)
    clock, bit = seen[:, :, 0, 2:5].argmax(axis=-1), seen[:, :, 1, :2].argmax(axis=-1)
    paid = (clock + 1) * (action.sum(axis=-1) == bit + 1)
    compared = 0
    for step, game in np.ndindex(5, 64):
        player = clock[step, game] % 2
        expected, weight, now = 0.0, 1.0, step
        while now == step or clock[now, game] not in (0, clock[step, game] + 2):
            expected, weight, now = expected + weight * paid[now, game], weight * DISCOUNT, now + 1
        if clock[now, game]:
            expected += weight * value[now, game, player]
        assert target[step, game, player] == pytest.approx(expected)
        assert advantage[step, game, player] == pytest.approx(expected - value[step, game, player])
        compared += 1
    assert (compared, episodes.games) == (320, 128)


@pytest.fixture(scope="module")
def unseen():
    """Returns the batch of many games whose player 0 does not see the bit."""
    return played()[1]


def test_a_step_without_a_choice_teaches_nothing(unseen):
    batch = unseen
    seen, _, target, value, advantage = rows_of(batch)
    waits = (seen[:, :, 0, 2:5].argmax(axis=-1) % 2)[..., None] != np.arange(2)
    np.testing.assert_array_equal(batch.judged.reshape(waits.shape), ~waits)
    np.testing.assert_array_equal(target[waits], value[waits])
    assert not advantage[waits].any()
    assert advantage[~waits].any()


def test_who_does_not_see_is_judged_in_games_that_its_belief_draws(unseen):
    seen, action, target, _, _ = rows_of(unseen)
    by_value, counts = np.unique(target[2, :, 0], return_counts=True)
    np.testing.assert_allclose(by_value, [0, 3])
    assert counts.min() > 20
    # What is true says nothing about what is drawn: about half of the judgements are those of the other bit.
    really_paid = action[2].sum(axis=-1) == seen[2, :, 1, :2].argmax(axis=-1) + 1
    assert 20 < (really_paid == (target[2, :, 0] > 0)).sum() < 44


@pytest.fixture(scope="module")
def learned(public_private):
    """Returns a network, and what `played` returns of it."""
    network = public_private(head_scale=1.0)
    return network, *played(network=network, environments=6)


def test_real_play_is_not_changed_by_fictitious_games(learned):
    network, _, batch, _ = learned
    _, other, _ = played((0, 1), network, 6)
    np.testing.assert_array_equal(batch.observation, other.observation)
    np.testing.assert_array_equal(batch.action, other.action)
    assert not np.array_equal(batch.target, other.target)


def test_the_collected_batch_fits_the_network(learned):
    network, after, batch, _ = learned
    params = jax.jit(network.init)(jax.random.key(3), jnp.asarray(batch.observation[:1]))
    memory, outputs = jax.jit(network.apply)(params, batch.memory.policy, batch.observation, batch.starts)
    np.testing.assert_allclose(outputs.values, batch.value, atol=1e-5)
    np.testing.assert_allclose(memory, after.policy, atol=1e-5)


def test_a_memory_that_reads_private_observations_is_refused():
    network = ActorCritic(NetworkConfig(encoder="mlp"), 3)
    with pytest.raises(OffBeliefError, match="public_private=True"):
        BelievingNetwork(network, UniformBelief(COUNTS))


def test_a_horizon_of_no_step_is_refused():
    with pytest.raises(OffBeliefError, match="horizon is 0"):
        FictitiousConfig(0)


def test_a_decay_above_one_is_refused():
    with pytest.raises(OffBeliefError, match=r"λ is 1\.5: expected a number from 0 to 1"):
        FictitiousConfig(8, 1.5)
