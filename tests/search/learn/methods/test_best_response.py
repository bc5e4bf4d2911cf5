"""Best responses to populations, and learners that play with each other, in a game of one step and two players."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import Outcome, Transition, lanes_first, lanes_last
from search.learn.errors import PpoConfigError
from search.learn.methods.best_response import DrawnNetwork, against
from search.learn.methods.synchronous import RANDOM, Side, SynchronousTrainer, k_level, self_play
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.networks.heads.uniform import UniformPolicy
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.training import Trainer

PAID = np.array([[2.0, 0.0, 4.0], [4.0, 3.0, 0.0], [0.0, 6.0, 0.0]], np.float32)
"""By own action and the other's: 1 is the best answer to a random player, 2 to that, 0 to that, and 1 again."""
GAMES = 40
KEYS = jax.random.split(jax.random.key(0), GAMES)


class Thrown(NamedTuple):
    """Whether both have chosen, and what each was paid; lanes last."""

    over: jax.Array
    paid: jax.Array


class Matrix:
    """Both choose one of three actions at once and are paid by `PAID`, each by its own row."""

    num_players = 2
    num_actions = 3
    image_shape = (1, 1, 2)

    def init(self, key):
        return Thrown(jnp.zeros(key.shape, bool), jnp.zeros((2, *key.shape), jnp.float32))

    def step(self, state, actions, keys=None):
        lanes = state.over.ndim > 0
        one, two = lanes_last(actions, lanes)
        paid = jnp.stack([jnp.asarray(PAID)[one, two], jnp.asarray(PAID)[two, one]])
        nothing = jnp.zeros_like(lanes_first(paid, lanes))
        info = {"illegal": nothing > 0, "shaping": nothing}
        return Thrown(jnp.ones_like(state.over), paid), Transition(lanes_first(paid, lanes), ~state.over, info)

    def legal_mask(self, state):
        return jnp.ones((*state.over.shape, 2, 3), bool)

    def observe(self, state):
        return jnp.broadcast_to(jnp.eye(2), (*state.over.shape, 2, 2))[..., None, None, :]

    def is_over(self, state):
        return state.over

    def outcome(self, state):
        return Outcome(state.paid.mean(axis=0), jnp.ones_like(state.over, jnp.int32), {})


class Always:
    """Plays one action, and remembers how often."""

    def __init__(self, action):
        self.action = action

    def initial(self, lanes):
        return jnp.zeros(lanes, jnp.int32)

    def act(self, params, memory, observation, legal, keys):
        return memory + 1, jnp.full(len(legal), self.action, jnp.int32)


def test_hand_written_members_are_drawn_by_their_shares_and_the_learner_keeps_its_seat():
    env = against(Matrix(), [(Always(0), ()), (Always(1), ()), (Always(2), ())], 1, jnp.array([0.0, 0.5, 0.5]))

    @jax.jit
    def play(keys):
        state = env.init(keys)
        after, paid = env.step(state, jnp.zeros((GAMES, 1), jnp.int32), keys)
        return state.game, paid.reward, env.outcome(after).total, env.env.outcome(after.game).total

    game, reward, own, of_both = play(KEYS)
    members = np.asarray(game.partner)[0]
    assert set(members.tolist()) == {1, 2}
    np.testing.assert_array_equal(game.seat, 1)
    np.testing.assert_array_equal(np.asarray(reward)[:, 0], PAID[0][members])
    np.testing.assert_array_equal(own, PAID[0][members])
    np.testing.assert_array_equal(of_both, (PAID[0][members] + PAID[members, 0]) / 2)


def test_without_a_seat_and_shares_seats_and_members_are_drawn_equally():
    env = against(Matrix(), [(Always(0), ()), (DrawnNetwork(UniformPolicy(3)), {})])
    state = jax.jit(env.init)(jax.random.split(jax.random.key(1), 400))
    assert 0.4 < np.asarray(state.game.seat).mean() < 0.6
    assert 0.4 < np.asarray(state.game.partner).mean() < 0.6


def test_every_level_faces_the_one_below_and_runs_face_themselves():
    assert k_level(3) == (Side("level 1", RANDOM), Side("level 2", 0), Side("level 3", 1))
    assert self_play(2) == (Side("run 0", 0), Side("run 1", 1))
    # Where agents differ, a level faces the level below of the other agent, and a run that of the other agent.
    assert [(side.faces, side.seat) for side in k_level(2, 2)] == [(RANDOM, 0), (2, 0), (RANDOM, 1), (0, 1)]
    assert [(side.faces, side.seat) for side in self_play(2, 2)] == [(2, 0), (3, 0), (0, 1), (1, 1)]
    assert [side.name for side in k_level(1, 2)] == ["level 1 of agent 0", "level 1 of agent 1"]


def test_games_of_more_than_two_players_are_refused():
    class Three(Matrix):
        num_players = 3

    with pytest.raises(PpoConfigError, match="need a game of 2 players, not of 3"):
        SynchronousTrainer(Three(), UniformPolicy(3), PpoConfig(), k_level(2))


@pytest.fixture(scope="module")
def learner():
    """Returns a small network and settings with which a row of a matrix is learned in a second."""
    network = ActorCritic(NetworkConfig("mlp", "lstm", 8, trunk=(8,)), 3)
    config = PpoConfig(
        40_960, environments=64, steps=8, bptt_steps=4, learning_rate=1e-2, anneal_learning_rate=False, shaping=0.0
    )
    return network, config


def shares_of(network, params, seat):
    seen = jnp.eye(2)[seat].reshape(1, 1, 1, 1, 2)
    _, said = network.apply(params, network.initial_memory(1), seen, jnp.ones((1, 1), bool))
    return np.asarray(jax.nn.softmax(said.logits[0, 0]))


@pytest.mark.slow
def test_the_best_response_to_a_mixture_is_learned(learner):
    network, config = learner
    members = [(Always(1), ()), (Always(1), ()), (Always(2), ())]
    trainer = Trainer(lambda _: against(Matrix(), members), network, config)
    state, report = trainer.run(trainer.init([0]), config.updates)
    params = jax.tree.map(lambda leaf: leaf[0], state.learner.params)
    assert shares_of(network, params, 0)[2] > 0.95
    assert shares_of(network, params, 1)[2] > 0.95
    last = float(report.episodes.total[0, -1] / report.episodes.games[0, -1])
    assert last == pytest.approx(4.0, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("agents", [1, 2])
def test_levels_answer_the_level_below(learner, agents):
    network, config = learner
    sides = k_level(3, agents)
    trainer = SynchronousTrainer(Matrix(), network, config, sides)
    state, report = trainer.run(trainer.init(range(len(sides))), config.updates)
    assert report.shaping.shape == (3 * agents, config.updates)
    for number, side in enumerate(sides):
        params = jax.tree.map(lambda leaf, number=number: leaf[number], state.learner.params)
        assert shares_of(network, params, side.seat or 0)[(1, 2, 0)[number % 3]] > 0.9, side.name
