import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import lane
from games.batched.wrappers import AutoReset
from search.learn.api import Outputs
from search.learn.methods.population import FictitiousPartners
from search.learn.play import several_policies
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.training import Trainer

from .conftest import Bits

GAMES = 24
KEYS = jax.random.split(jax.random.key(5), GAMES)


class Repeating:
    """A policy that says its parameter at its first step, and then the other word and this one in turn."""

    num_actions = 3

    def initial_memory(self, lanes):
        return jnp.zeros((lanes, 1), jnp.int32)

    def apply(self, params, memory, observation, starts):
        row = observation[..., 0, 0, :]
        mine = row[0, :, 2:5].argmax(axis=-1) % 2 == row[0, :, 8:].argmax(axis=-1)
        logits = 1e4 * jax.nn.one_hot(1 + (params + memory[:, 0]) % 2, 3)[None]
        return memory + mine[:, None], Outputs(logits, jnp.zeros(starts.shape), logits)


@pytest.fixture(scope="module")
def env():
    return FictitiousPartners(Bits(), Repeating(), jnp.arange(2))


@pytest.fixture(scope="module")
def step(env):
    """Returns the compiled step."""
    return jax.jit(env.step)


@pytest.fixture(scope="module")
def legal(env):
    """Returns the compiled masks."""
    return jax.jit(env.legal_mask)


@pytest.fixture(scope="module")
def played(env, step, legal):
    """Three steps of games in which the learner says 1 whenever it may; the last state, and what was before each."""
    states = [jax.jit(env.init)(jax.random.split(jax.random.key(0), GAMES))]
    paid = []
    for _ in range(3):
        actions = np.where(legal(states[-1])[..., 0], 0, 2)
        state, transition = step(states[-1], actions, KEYS)
        states.append(state)
        paid.append(transition)
    return states, paid


def test_seats_and_partners_are_drawn_for_every_game(played):
    state = played[0][0]
    assert set(zip(state.seat.tolist(), state.partner[0].tolist(), strict=True)) == {
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    }


def test_the_learner_plays_its_seat_and_members_play_and_remember_theirs(played):
    states, _ = played
    for number in range(3):
        state, after = states[number], states[number + 1]
        is_mine = np.asarray(state.seat) == number % 2
        turns_of_partner = np.asarray(state.memory)[0, 0]
        expected = np.where(is_mine, 2, 1 + (np.asarray(state.partner)[0] + turns_of_partner) % 2)
        np.testing.assert_array_equal(after.game.said, expected)
    second = np.asarray(states[2].memory)[0, 0]
    np.testing.assert_array_equal(second, 1)
    np.testing.assert_array_equal(states[3].game.clock, 3)
    np.testing.assert_array_equal(states[3].memory[0, 0], np.where(states[3].seat == 1, 2, 1))


def test_the_learner_sees_and_is_paid_what_its_seat_is(env, legal, played):
    states, paid = played
    whole = Bits()
    observe, seen, mask = jax.jit(env.observe), jax.jit(whole.observe), jax.jit(whole.legal_mask)
    for state, transition in zip(states[:3], paid, strict=True):
        seat = np.asarray(state.seat)
        each = np.arange(GAMES)
        assert (env.num_players, env.num_actions, env.image_shape) == (1, 3, (1, 1, 10))
        np.testing.assert_array_equal(observe(state)[:, 0], np.asarray(seen(state.game))[each, seat])
        np.testing.assert_array_equal(legal(state)[:, 0], np.asarray(mask(state.game))[each, seat])
        assert transition.reward.shape == (GAMES, 1)
        assert transition.info["illegal"].shape == transition.info["shaping"].shape == (GAMES, 1)
        assert not np.asarray(transition.info["illegal"]).any()
    total = sum(np.asarray(transition.reward)[:, 0] for transition in paid)
    np.testing.assert_array_equal(total, env.outcome(states[3]).total)
    np.testing.assert_array_equal(paid[2].done, True)
    np.testing.assert_array_equal(env.is_over(states[3]), True)


def test_illegal_actions_of_the_learner_are_flagged(legal, step, played):
    state = played[0][0]
    waits = np.asarray(legal(state))[:, 0, 0]
    _, transition = step(state, np.ones((GAMES, 1), np.int64), KEYS)
    np.testing.assert_array_equal(np.asarray(transition.info["illegal"])[:, 0], waits)


def test_uniform_actions_of_the_learner_are_legal(env, legal, played):
    state = played[0][1]
    drawn = np.asarray(jax.jit(env.sample)(state, np.linspace(0, 0.99, GAMES)))
    assert drawn.shape == (GAMES, 1)
    assert np.take_along_axis(np.asarray(legal(state))[:, 0], drawn, axis=1).all()


def test_one_game_alone_is_played_like_a_lane(env, played):
    states, paid = played
    key = jax.random.split(jax.random.key(0), GAMES)[7]
    alone, step = jax.jit(env.init)(key), jax.jit(env.step)
    states, paid = jax.device_get((states, paid))

    @jax.jit
    def shown(state):
        return env.legal_mask(state), env.observe(state), env.sample(state, jnp.zeros(()))

    for number in range(3):
        jax.tree.map(np.testing.assert_array_equal, alone, lane(states[number], 7))
        mask, seen, drawn = shown(alone)
        actions = np.where(mask[:, 0], 0, 2)
        assert seen.shape == (1, 1, 1, 10)
        assert drawn.shape == (1,)
        alone, transition = step(alone, actions, KEYS[7])
        jax.tree.map(lambda one, many: np.testing.assert_array_equal(one, many[7]), transition, paid[number])


def test_partners_that_draw_do_so_differently_in_every_game_and_step(public_private):
    network = public_private()
    params = jax.jit(network.init)(jax.random.key(0), jnp.zeros((1, 1, 1, 1, 10)))
    env = FictitiousPartners(Bits(), network, several_policies.stacked([params]))
    state = jax.jit(env.init)(jax.random.split(jax.random.key(1), 64))
    keys, said = jax.random.split(jax.random.key(2), 64), []
    step = jax.jit(lambda state: env.step(state, jnp.where(env.legal_mask(state)[..., 0], 0, 2), keys))
    for _ in range(3):
        state, _ = step(state)
        said.append(np.asarray(state.game.said))
    second = np.asarray(state.seat) == 1
    assert 8 < (said[0][second] == 1).sum() < second.sum() - 8
    assert (said[0][second] != said[2][second]).any()


def test_new_games_have_new_seats_and_empty_memories(env, legal, played):
    states, _ = played
    resetting = AutoReset(env, None)
    actions = np.where(legal(states[2])[..., 0], 0, 2)
    after, paid = jax.jit(resetting.step)(states[2], actions, jax.random.split(jax.random.key(9), GAMES))
    assert np.asarray(paid.done).all()
    assert not np.asarray(after.memory).any()
    assert not np.array_equal(after.seat, states[2].seat)
    np.testing.assert_array_equal(after.game.clock, 0)


@pytest.mark.slow
def test_a_learner_improves_beside_a_population_that_stays_as_it_is(public_private):
    network = public_private(head_scale=0.0)
    example = jnp.zeros((1, 1, 1, 1, 10))
    population = several_policies.stacked([network.init(jax.random.key(seed), example) for seed in range(2)])
    before = jax.tree.map(np.asarray, population)
    config = PpoConfig(
        total_steps=64 * 6 * 30, environments=64, steps=6, minibatches=2, learning_rate=0.01, entropy=0.0, shaping=0.0
    )
    training = Trainer(lambda members: FictitiousPartners(Bits(seer=0), network, members), network, config)
    _, report = training.run(training.init([0], population), 30, population)
    mean = np.asarray(report.episodes.total / report.episodes.games)[0]
    assert mean[:3].mean() == pytest.approx(3, abs=0.5)
    assert mean[-3:].mean() > 3.6, "partners say anything; the learner is right where it sees the bit"
    jax.tree.map(np.testing.assert_array_equal, population, before)
