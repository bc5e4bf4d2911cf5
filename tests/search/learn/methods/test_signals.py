"""Off-belief learners do not read signals that are agreed upon; self-play does."""

import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.beliefs.beliefs import UniformBelief
from search.learn.methods.off_belief import BelievingNetwork, FictitiousConfig, collector
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.training import Trainer

from .conftest import COUNTS, Bits, BitSlots

SETTINGS = {"epochs": 4, "minibatches": 2, "learning_rate": 0.01, "shaping": 0.0, "anneal_learning_rate": False}
CONFIG = PpoConfig(total_steps=128 * 8 * 100, environments=128, steps=8, discount=1.0, entropy=0.03, **SETTINGS)


class CheapTalk(Bits):
    """Player 0 sees the bit and says something, which costs nothing; player 1 guesses, or refuses to (action 3).

    A right guess pays 1, a wrong one costs 1, refusing pays 0.2.
    """

    num_actions = 4
    steps = 2

    def __init__(self):
        super().__init__(seer=0)

    def pay(self, state, said):
        guess = jnp.where(said == state.bit + 1, 1.0, -1.0)
        return jnp.where(state.clock == 1, jnp.where(said == 3, 0.2, guess), 0.0)

    def legal_mask(self, state):
        mine = self.turn(state)[..., None] == jnp.arange(2)
        may = jnp.arange(4) > 0
        refuses = (state.clock == 1)[..., None, None] | (jnp.arange(4) != 3)
        return jnp.where(mine[..., None], may & refuses, ~may)


def mean_returns(method):
    """Returns the mean return of the last games of four seeds, [4]."""
    env, slots = CheapTalk(), BitSlots(seers=(0,))
    settings = {"encoder": "mlp", "core": "gru", "hidden": 32, "filters": 32, "layers": 1}
    network = ActorCritic(NetworkConfig(**settings, public_private=True, private_channels=2, head_scale=0.1), 4)
    if method == "self-play":
        training = Trainer(lambda _: env, network, CONFIG)
    else:
        believing = BelievingNetwork(network, UniformBelief(COUNTS))
        collect = collector(lambda _: env, believing, slots, CONFIG, FictitiousConfig(4))
        training = Trainer(lambda _: env, believing, CONFIG, collect)
    _, report = training.run(training.init([0, 1, 2, 3]), CONFIG.updates)
    return np.asarray(report.episodes.total / report.episodes.games)[:, -5:].mean(axis=1)


@pytest.mark.slow
def test_off_belief_learners_do_not_rely_on_signals_that_self_play_agrees_upon():
    np.testing.assert_allclose(mean_returns("off-belief"), 0.2, atol=0.06)
    assert mean_returns("self-play").max() > 0.8
