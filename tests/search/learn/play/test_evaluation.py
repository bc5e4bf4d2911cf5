from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import Outcome, Transition, along, lanes_first, lanes_last
from search.learn.api import Outputs
from search.learn.play.evaluation import EvaluationError, Policy, PolicyEvaluator, StepReader

GAMES = 4096


class Coin(NamedTuple):
    """A bit that is drawn and shown, and what was played; lanes last."""

    bit: jax.Array
    played: jax.Array
    clock: jax.Array


class Matrix:
    """Two players choose once, in a step whose number is 1 + the drawn bit; the pair of choices is paid by a table."""

    num_players = 2
    num_actions = 3
    image_shape = (1, 1, 2)
    table = jnp.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0], [0.0, 0.0, 0.0]])

    def init(self, keys):
        bit = jax.vmap(lambda key: jax.random.bernoulli(key).astype(jnp.int32))(keys)
        return Coin(bit, jnp.zeros((2, *bit.shape), jnp.int32), jnp.zeros_like(bit))

    def step(self, state, actions, keys=None):
        over = self.is_over(state)
        played = jnp.where(over, state.played, lanes_last(actions, True))
        following = Coin(state.bit, played, jnp.where(over, state.clock, state.clock + 1))
        return following, Transition(jnp.zeros((*over.shape, 2)), self.is_over(following), {})

    def legal_mask(self, state):
        # The third action is never legal.
        legal = along(jnp.arange(3) < 2, state.bit)
        return lanes_first(jnp.broadcast_to(legal[None], (2, 3, *state.bit.shape)), True)

    def observe(self, state):
        shown = jnp.stack([state.bit, state.clock], axis=-1).astype(jnp.float32)
        seats = jnp.broadcast_to(shown[:, None], (shown.shape[0], 2, 2))
        return seats[:, :, None, None, :]

    def is_over(self, state):
        return state.clock > state.bit

    def outcome(self, state):
        paid = self.table[state.played[0], state.played[1]]
        return Outcome(paid, state.clock, {"score": paid})


class Constant:
    """A network whose logits are its parameters."""

    num_actions = 3

    def initial_memory(self, lanes):
        return jnp.zeros(lanes, jnp.int32)

    def apply(self, params, memory, observation, starts):
        memory = jnp.where(starts[0], 0, memory) + 1
        logits = jnp.broadcast_to(params, (*starts.shape, 3))
        return memory, Outputs(logits, logits[..., 0], memory[None, :, None].astype(jnp.float32))


class Copycat(Constant):
    """Plays the drawn bit that it was shown."""

    def apply(self, params, memory, observation, starts):
        memory, said = super().apply(params, memory, observation, starts)
        return memory, said._replace(logits=50.0 * jax.nn.one_hot(observation[..., 0, 0, 0].astype(int), 3))


@pytest.fixture(scope="module")
def env():
    return Matrix()


@pytest.fixture(scope="module")
def reader(env):
    return StepReader(Constant(), env)


@pytest.fixture(scope="module")
def keys():
    return jax.random.split(jax.random.key(0), GAMES), jax.random.split(jax.random.key(1), GAMES)


def of_probability(reader, chance):
    """Returns a policy that plays 1 with a probability; the logit of what is not legal is the highest."""
    return Policy(reader, jnp.array([np.log(1 - chance), np.log(chance), 9.0]))


def test_greedy_games_pay_exactly_their_entry_of_the_matrix(env, reader, keys):
    evaluator = PolicyEvaluator(env, 2, greedy=True)
    policies = [of_probability(reader, 0.1), of_probability(reader, 0.9)]
    for row, first in enumerate(policies):
        for column, second in enumerate(policies):
            outcome = evaluator.play([first, second], *keys).outcome
            np.testing.assert_array_equal(outcome.figures["score"], np.full(GAMES, env.table[row, column]))


def test_drawn_games_reach_the_exact_expectation_in_every_cell(env, reader, keys):
    evaluator = PolicyEvaluator(env, 2)
    chances = [0.2, 0.7]
    for p in chances:
        for q in chances:
            paid = evaluator.play([of_probability(reader, p), of_probability(reader, q)], *keys).outcome.figures[
                "score"
            ]
            exact = (1 - p) * (1 - q) * 1 + (1 - p) * q * 2 + p * (1 - q) * 8 + p * q * 16
            error = float(paid.std()) / np.sqrt(GAMES)
            assert abs(float(paid.mean()) - exact) < 3.5 * error
    assert error > 0


def test_two_seats_of_one_policy_draw_independently(env, reader, keys):
    paid = np.asarray(PolicyEvaluator(env, 2).play([of_probability(reader, 0.5)] * 2, *keys).outcome.figures["score"])
    shares = [np.mean(paid == value) for value in (1, 2, 8, 16)]
    np.testing.assert_allclose(shares, 0.25, atol=0.03)


def test_one_program_serves_every_pairing_of_one_network(env, reader, keys):
    env = Matrix()  # of which nothing is compiled yet
    evaluator = PolicyEvaluator(env, 2)
    for chance in (0.1, 0.4, 0.8):
        evaluator.play([of_probability(reader, chance), of_probability(reader, 0.5)], *keys)
    assert evaluator._compiled._cache_size() == 1
    assert PolicyEvaluator(env, 2)._compiled is evaluator._compiled
    evaluator.play([of_probability(reader, 0.5), Policy(StepReader(Copycat(), env), jnp.zeros(3))], *keys)
    assert evaluator._compiled._cache_size() == 2


def test_deals_are_the_same_whoever_plays_and_short_games_count_once(env, reader, keys):
    evaluator = PolicyEvaluator(env, 2)
    own = evaluator.play([of_probability(reader, 0.5)] * 2, *keys).outcome
    copy = Policy(StepReader(Copycat(), env), jnp.zeros(3))
    other = evaluator.play([copy, copy], *keys).outcome
    np.testing.assert_array_equal(own.length, other.length)
    assert set(np.unique(own.length)) == {1, 2}
    np.testing.assert_array_equal(other.figures["score"], np.where(other.length == 1, 1.0, 16.0))


def test_every_seat_sees_through_its_own_view(env, reader, keys):
    class Upside(Matrix):
        def observe(self, state):
            return 1 - super().observe(state)

    seats = [Policy(StepReader(Copycat(), env), jnp.zeros(3)), Policy(StepReader(Copycat(), Upside()), jnp.zeros(3))]
    outcome = PolicyEvaluator(env, 2).play(seats, *keys).outcome
    np.testing.assert_array_equal(outcome.figures["score"], np.where(outcome.length == 1, 2.0, 8.0))


def test_every_seat_has_a_memory_of_its_own_that_begins_with_the_game(env, reader, keys):
    evaluator = PolicyEvaluator(env, 2, watch=lambda moment: (moment.features, moment.alive))
    features, alive = evaluator.play([of_probability(reader, 0.5)] * 2, *keys).kept
    for seat in features:
        np.testing.assert_array_equal(seat[:, :, 0], [[1.0] * GAMES, [2.0] * GAMES])
    assert alive[0].all()
    assert 0 < alive[1].mean() < 1


def test_games_that_are_not_over_are_refused(env, reader, keys):
    with pytest.raises(EvaluationError, match="are not over after 1 steps"):
        PolicyEvaluator(env, 1).play([of_probability(reader, 0.5)] * 2, *keys)


def test_a_seat_too_few_is_refused(env, reader, keys):
    with pytest.raises(EvaluationError, match="seats 2 players: 1 policies"):
        PolicyEvaluator(env, 2).play([of_probability(reader, 0.5)], *keys)
