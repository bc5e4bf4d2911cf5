"""A game that shares nothing with those that ship: chance in every step, figures and symmetries of its own."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import Outcome, Transition, along, chance_keys, lanes_first, lanes_last
from games.batched.other_play import OtherPlay
from games.batched.wrappers import AutoReset, StepLimit, metrics
from search.learn.methods.population import FictitiousPartners
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.play import several_policies
from search.learn.play.evaluation import Policy, PolicyEvaluator, StepReader
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.training import Trainer

SIDES = 3
STEPS = 4
LANES = 64


class Table(NamedTuple):
    """The side that a die shows to both players, the steps so far, matches and what was paid; lanes last."""

    side: jax.Array
    clock: jax.Array
    matches: jax.Array
    total: jax.Array


class Dice:
    """A die is thrown anew at every step; who names its side is paid 1, and 1 more for both if both name it."""

    num_players = 2
    num_actions = SIDES
    image_shape = (1, 1, SIDES)

    def init(self, key):
        side = self._thrown(key)
        return Table(side, jnp.zeros_like(side), jnp.zeros_like(side), jnp.zeros(side.shape))

    def _thrown(self, keys):
        throw = jax.vmap(self._thrown) if keys.ndim else lambda key: jax.random.randint(key, (), 0, SIDES)
        return throw(keys)

    def step(self, state, actions, keys):
        lanes = state.clock.ndim > 0
        right = lanes_last(actions, lanes) == state.side[None]
        over = self.is_over(state)
        both = right.all(axis=0) & ~over
        paid = jnp.where(over, 0.0, right.sum(axis=0) + both)
        following = Table(
            jnp.where(over, state.side, self._thrown(keys)),
            state.clock + ~over,
            state.matches + both,
            state.total + paid,
        )
        reward = jnp.broadcast_to(paid[..., None], (*paid.shape, 2))
        info = {"illegal": jnp.zeros(reward.shape, bool), "shaping": jnp.zeros(reward.shape)}
        return following, Transition(reward, self.is_over(following), info)

    def legal_mask(self, state):
        return jnp.ones((*state.clock.shape, 2, SIDES), bool)

    def sample(self, state, uniform):
        return jnp.broadcast_to((uniform * SIDES).astype(jnp.int32)[..., None], (*state.clock.shape, 2))

    def observe(self, state):
        shown = lanes_first((along(jnp.arange(SIDES), state.side) == state.side[None]) * 1.0, state.side.ndim > 0)
        return jnp.broadcast_to(shown[..., None, None, None, :], (*state.side.shape, 2, 1, 1, SIDES))

    def is_over(self, state):
        return state.clock >= STEPS

    def outcome(self, state):
        return Outcome(state.total, state.clock, {"matches": state.matches, "perfect": state.matches == STEPS})


class Turned:
    """Symmetries of the die: its sides turned by a number."""

    def __len__(self):
        return SIDES

    def action(self, number, action):
        return (action + number) % SIDES

    def inverse_action(self, number, action):
        return (action - number) % SIDES

    def mask(self, number, mask):
        return jnp.roll(mask, number, axis=-1)

    def image(self, number, image):
        return jnp.roll(image, number, axis=-1)


class NamesTheSide:
    """A heuristic as `BatchedPolicy`: names what it sees, and counts its steps."""

    def initial(self, lanes):
        return jnp.zeros(lanes, jnp.int32)

    def act(self, params, memory, observation, legal, keys):
        return memory + 1, jnp.argmax(observation[:, 0, 0], axis=-1).astype(jnp.int32)


CONFIG = PpoConfig(
    total_steps=64 * 4 * 40, environments=64, steps=4, epochs=2, minibatches=2, learning_rate=1e-2, entropy=0.01
)
NETWORK = ActorCritic(NetworkConfig(encoder="mlp", core="none", hidden=16, filters=16, layers=1), SIDES)


def keys_at(number, lanes=LANES):
    return jax.random.split(jax.random.key(number), lanes)


def trained(make_env, context=()):
    """Returns the state after training, and what its last updates came to."""
    trainer = Trainer(make_env, NETWORK, CONFIG)
    state, report = trainer.run(trainer.init([0], context), CONFIG.updates, context)
    return state, metrics(jax.tree.map(lambda leaf: np.asarray(leaf)[0, -5:].sum(), report.episodes))


@pytest.fixture(scope="module")
def best():
    return trained(lambda _: Dice())


def test_ppo_learns_a_game_with_chance_in_every_step(best):
    _, figures = best
    assert figures["return"] > 11
    assert figures["perfect"] > 0.7
    assert figures["LEN"] == STEPS
    assert figures["matches"] == pytest.approx(figures["return"] / 3, abs=0.4)


def test_other_play_trains_through_the_games_own_symmetries():
    _, figures = trained(lambda _: OtherPlay(Dice(), Turned()))
    assert figures["return"] > 11


def test_players_of_other_play_name_sides_as_they_see_them():
    wrapped = OtherPlay(Dice(), Turned())
    state = jax.jit(wrapped.init)(keys_at(0))
    assert set(np.unique(state.symmetry)) == set(range(SIDES))
    as_seen = np.argmax(jax.jit(wrapped.observe)(state)[:, :, 0, 0], axis=-1)
    _, paid = jax.jit(wrapped.step)(state, as_seen, keys_at(1))
    np.testing.assert_array_equal(paid.reward, 3.0)


def test_chance_follows_from_the_keys_of_a_step_and_a_lane_from_its_own():
    resetting = AutoReset(Dice())
    state = jax.jit(resetting.init)(keys_at(0))
    actions, step = np.zeros((LANES, 2), np.int32), jax.jit(resetting.step)
    one, _ = step(state, actions, keys_at(1))
    other, _ = step(state, actions, keys_at(2))
    again, _ = step(jax.tree.map(lambda leaf: leaf[8:16], state), actions[8:16], keys_at(1)[8:16])
    assert (one.side != other.side).any()
    np.testing.assert_array_equal(again.side, one.side[8:16])


def test_keys_of_chance_are_none_that_are_split_from_the_same():
    keys = keys_at(0)
    words = jax.random.key_data(chance_keys(keys))
    split = np.asarray(jax.random.key_data(jax.vmap(lambda key: jax.random.split(key, 8))(keys)))
    assert words.shape == (LANES, 2)
    assert not (words[:, None] == split).all(axis=-1).any()


def test_chance_is_the_same_whoever_plays(best):
    env = Dice()
    params = jax.tree.map(lambda leaf: leaf[0], best[0].learner.params)
    fresh = jax.jit(NETWORK.init)(jax.random.key(9), jnp.zeros((1, 1, *env.image_shape)))
    evaluator = PolicyEvaluator(env, STEPS, watch=lambda moment: moment.games.side)
    reader, seen = StepReader(NETWORK, env), []
    for seat in (params, fresh):
        policy = Policy(reader, seat)
        seen.append(np.asarray(evaluator.play([policy, policy], keys_at(3), keys_at(4)).kept))
    np.testing.assert_array_equal(*seen)
    assert len(np.unique(seen[0][:, 0])) > 1 or len(np.unique(seen[0])) == SIDES


def test_a_heuristic_is_a_partner_beside_networks(best):
    network = jax.tree.map(lambda leaf: leaf[0], best[0].learner.params)
    env = FictitiousPartners(Dice(), NETWORK, several_policies.stacked([network]), [(NamesTheSide(), ())])
    state, step = jax.jit(env.init)(keys_at(5)), jax.jit(env.step)
    heuristic = np.asarray(state.partner)[0] == 1
    assert 0.2 < heuristic.mean() < 0.8
    for number in range(STEPS):
        right = np.argmax(env.observe(state)[:, 0, 0, 0], axis=-1)[:, None]
        state, paid = step(state, right, keys_at(6 + number))
        np.testing.assert_array_equal(np.asarray(paid.reward)[heuristic], 3.0)
    np.testing.assert_array_equal(state.further[0], STEPS)
    assert paid.done.all()


def test_a_step_limit_cuts_games_off_and_what_was_cut_stays_as_it_is():
    env = StepLimit(Dice(), 2)
    begun, actions, step = jax.jit(env.init)(keys_at(7)), np.zeros((LANES, 2), np.int32), jax.jit(env.step)
    state, first = step(begun, actions, keys_at(8))
    state, second = step(state, actions, keys_at(9))
    after, third = step(state, actions, keys_at(10))
    assert not first.done.any()
    assert not first.info["cut"].any()
    assert second.done.all()
    assert second.info["cut"].all()
    assert third.done.all()
    assert not third.info["cut"].any()
    assert not third.reward.any()
    jax.tree.map(np.testing.assert_array_equal, after, state)
    np.testing.assert_array_equal(env.outcome(state).length, 2)
    resetting = AutoReset(StepLimit(Dice(), 2))
    again, _ = jax.jit(resetting.step)(begun._replace(steps=begun.steps + 1), actions, keys_at(11))
    np.testing.assert_array_equal(again.steps, 0)


def test_a_limit_that_the_rules_reach_first_changes_nothing():
    plain, limited = Dice(), StepLimit(Dice(), STEPS)
    state, other = jax.jit(plain.init)(keys_at(1)), jax.jit(limited.init)(keys_at(1))
    plain_step, limited_step, sample = jax.jit(plain.step), jax.jit(limited.step), jax.jit(plain.sample)
    for number in range(STEPS):
        actions = sample(state, jax.random.uniform(jax.random.key(number), (LANES,)))
        state, paid = plain_step(state, actions, keys_at(20 + number))
        other, same = limited_step(other, actions, keys_at(20 + number))
        np.testing.assert_array_equal(paid.reward, same.reward)
        np.testing.assert_array_equal(paid.done, same.done)
        assert not same.info["cut"].any()
    jax.tree.map(np.testing.assert_array_equal, other.game, state)
