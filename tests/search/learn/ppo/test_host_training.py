"""PPO on games that are stepped outside of JAX."""

from dataclasses import dataclass

import jax
import numpy as np
import pytest

from search.learn import masked_categorical
from search.learn.errors import PpoConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo import ppo
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.host_training import HostTrainer

GAMES = 10
PAID = np.array([0.0, 1.0, 0.25], np.float32)


@dataclass
class At:
    """Where games stand."""

    observations: np.ndarray
    legal: np.ndarray
    rewards: np.ndarray
    ended: np.ndarray
    cut: np.ndarray


class OneStep:
    """Games of one decision: action 1 pays 1, action 2 a quarter, action 3 is never legal."""

    def __init__(self, cut=False):
        self.cut = np.full(GAMES, cut)
        self.choices = []

    def at(self, rewards):
        legal = np.tile([True, True, True, False], (GAMES, 1))
        seen = np.ones((GAMES, 2), np.float32)
        return At(seen, legal, rewards, np.ones(GAMES, bool), self.cut)

    def begin(self):
        return self.at(np.zeros(GAMES, np.float32))

    def step(self, choices):
        self.choices.append(choices.copy())
        return self.at(PAID[choices])


class Recalled:
    """Games of two decisions: the first shows a symbol, the second pays 1 to who says it, and shows nothing."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.symbol = self.rng.integers(2, size=GAMES)
        self.late = False

    def at(self, rewards, ended):
        seen = np.zeros((GAMES, 3), np.float32)
        seen[:, 2] = self.late
        if not self.late:
            seen[np.arange(GAMES), self.symbol] = 1.0
        legal = np.ones((GAMES, 2), bool)
        return At(seen, legal, rewards, np.full(GAMES, ended), np.zeros(GAMES, bool))

    def begin(self):
        return self.at(np.zeros(GAMES, np.float32), False)

    def step(self, choices):
        if self.late:
            paid = (choices == self.symbol).astype(np.float32)
            self.symbol, self.late = self.rng.integers(2, size=GAMES), False
            return self.at(paid, True)
        self.late = True
        return self.at(np.zeros(GAMES, np.float32), False)


def trainer(actions, core="none", layers=1, **changes):
    settings = {
        "total_steps": GAMES * 8 * 12,
        "environments": GAMES,
        "steps": 8,
        "epochs": 4,
        "minibatches": 2,
        "learning_rate": 0.02,
        "anneal_learning_rate": False,
        "entropy": 0.02,
        "entropy_end": 0.0,
    } | changes
    config = NetworkConfig(encoder="mlp", core=core, layers=layers, filters=16, hidden=16, activation="tanh")
    return HostTrainer(ActorCritic(config, actions, rank=1), PpoConfig(**settings))


@pytest.fixture(scope="module")
def one_step():
    """Returns a learner of games of one decision, compiled once."""
    return trainer(4)


@pytest.fixture(scope="module")
def recalling():
    """Returns a recurrent learner of games of two decisions, compiled once."""
    return trainer(2, "rnn", 0, total_steps=GAMES * 8 * 40)


def trained(learner, games, width):
    state, arrived, paid = learner.init(0, width), games.begin(), []
    for _ in range(learner.config.updates):
        rollout = learner.play(state, games, arrived)
        state, losses = learner.learn(state, rollout)
        arrived = rollout.arrived
        paid.append(rollout.played.reward.sum() / max(1, rollout.played.done.sum()))
    return state, paid, losses


def test_one_step_game_is_learned_to_its_best_return(one_step):
    games = OneStep()
    _, paid, _ = trained(one_step, games, 2)
    assert paid[0] < 0.75
    assert paid[-1] > 0.95
    assert not (np.array(games.choices) == 3).any()


def test_what_was_seen_before_is_learned_through_the_memory(recalling):
    _, paid, _ = trained(recalling, Recalled(0), 3)
    assert paid[-1] > 0.9


def test_nothing_is_learned_from_the_end_of_a_game_that_was_cut(one_step):
    # Were the payment learned from, action 1 would soon be taken nearly always.
    state, _, _ = trained(one_step, OneStep(cut=True), 2)
    now = OneStep().begin()
    _, outputs = one_step.network.apply(state.learner.params, (), now.observations[None], now.ended[None])
    np.testing.assert_allclose(outputs.logits[0, 0, :3] - outputs.logits[0, 0, 0], 0.0, atol=1e-3)


def test_rollout_keeps_each_decision_beside_what_it_paid(one_step):
    games = OneStep()
    state = one_step.init(3, 2)
    played = one_step.play(state, games, games.begin()).played
    assert played.action.shape == (8, GAMES)
    np.testing.assert_array_equal(played.action, np.array(games.choices))
    np.testing.assert_array_equal(played.reward, PAID[played.action])
    assert played.starts.all()


def test_sequence_read_at_once_gives_the_probabilities_of_the_rollout(recalling):
    games = Recalled(1)
    state = recalling.init(0, 3)
    played = recalling.play(state, games, games.begin()).played
    params, memory = state.learner.params, state.standing.memory
    _, outputs = jax.jit(recalling.network.apply)(params, memory, played.observation, played.starts)
    again = masked_categorical.log_probability(outputs.logits, played.legal, played.action)
    np.testing.assert_allclose(again, played.log_probability, atol=1e-6)
    np.testing.assert_allclose(outputs.values, played.value, atol=1e-6)


def test_memory_is_forgotten_where_a_game_begins(recalling):
    params = recalling.init(0, 3).learner.params
    policy, now = recalling.policy, Recalled(2).begin()
    fresh = recalling.network.initial_memory(GAMES)
    begins, goes_on = np.ones(GAMES, bool), np.zeros(GAMES, bool)
    first = policy.greedy(params, fresh, now.observations, goes_on, now.legal).memory
    again = policy.greedy(params, fresh + 0.5, now.observations, begins, now.legal).memory
    kept = policy.greedy(params, fresh + 0.5, now.observations, goes_on, now.legal).memory
    np.testing.assert_array_equal(first, again)
    assert np.abs(np.asarray(kept) - np.asarray(first)).max() > 1e-3


def test_coefficient_of_the_entropy_falls_linearly_to_its_end():
    config = trainer(4, entropy=0.1, entropy_end=0.01).config
    found = [float(ppo.annealed_entropy(config, np.float32(updates))) for updates in (0, 6, 12, 20)]
    assert found == pytest.approx([0.1, 0.055, 0.01, 0.01])


def test_same_seed_gives_the_same_training(one_step):
    left, right = (trained(one_step, OneStep(), 2)[0] for _ in range(2))
    jax.tree.map(np.testing.assert_array_equal, left.learner, right.learner)


def test_games_that_cannot_be_shared_out_are_refused():
    with pytest.raises(PpoConfigError, match="10 sequences"):
        trainer(4, minibatches=3)


def test_greedy_play_takes_the_likeliest_legal_action(one_step):
    params = one_step.init(0, 2).learner.params
    params["actor"]["bias"] = params["actor"]["bias"].at[3].set(5.0).at[2].set(1.0)
    now = OneStep().begin()
    found = one_step.policy.greedy(params, (), now.observations, now.ended, now.legal)
    assert found.action.tolist() == [2] * GAMES
