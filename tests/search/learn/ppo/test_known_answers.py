"""PPO on games whose best results are known."""

from fractions import Fraction
from itertools import permutations, product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import Outcome, Transition, along, lanes_first, lanes_last
from search.learn import masked_categorical
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.training import Trainer


class TinyGame:
    """What the games here have in common: all actions are legal, a state has the fields `over`, `clock`, `total`."""

    num_players = 1
    num_actions = 2

    def init(self, key):
        return jax.vmap(self.drawn, out_axes=-1)(key) if key.ndim else self.drawn(key)

    def step(self, state, actions, keys=None):
        lanes = state.clock.ndim > 0
        following, paid = self.played(state, lanes_last(actions, lanes))
        following = following._replace(clock=state.clock + 1, total=state.total + paid)
        nothing = jnp.zeros((*state.clock.shape, self.num_players))
        return following, Transition(
            nothing + paid[..., None], following.over, {"illegal": nothing > 0, "shaping": nothing}
        )

    def legal_mask(self, state):
        return jnp.ones((*state.clock.shape, self.num_players, self.num_actions), bool)

    def is_over(self, state):
        return state.over

    def outcome(self, state):
        return Outcome(state.total, state.clock, {"won": state.over, "ended_early": ~state.over, "score": state.total})

    def observe(self, state):
        return lanes_first(self.seen(state), state.clock.ndim > 0)[..., None, None, :]


def trained(game, config, updates=None, **network):
    """Returns the network, its parameters after training, and the reports of all updates."""
    settings = {"encoder": "mlp", "core": "none", "filters": 16, "hidden": 16, "layers": 1, "activation": "tanh"}
    network = ActorCritic(NetworkConfig(**settings | network), game.num_actions)
    trainer = Trainer(lambda _: game, network, config)
    state, reports = trainer.run(trainer.init([1]), updates or config.updates)
    return network, jax.tree.map(lambda leaf: leaf[0], state.learner.params), jax.tree.map(np.asarray, reports)


PAYOFFS = np.array([[0, 1, 0], [0, 0, 3], [2, 0, 0]], np.float32)


class Matrix(NamedTuple):
    over: jax.Array
    clock: jax.Array
    total: jax.Array


class MatrixGame(TinyGame):
    """Two players choose at once and are both paid what the matrix says."""

    num_players = 2
    num_actions = 3
    image_shape = (1, 1, 2)

    def drawn(self, key):
        return Matrix(jnp.zeros((), bool), jnp.zeros((), jnp.int32), jnp.zeros(()))

    def played(self, state, actions):
        return state._replace(over=state.clock >= 0), jnp.asarray(PAYOFFS)[actions[0], actions[1]]

    def seen(self, state):
        return jnp.broadcast_to(along(jnp.eye(2), state.clock), (2, 2, *state.clock.shape))


def test_team_finds_the_best_cell_of_a_matrix():
    config = PpoConfig(30 * 128, environments=32, steps=4, learning_rate=0.02, entropy=0.0, epochs=2, minibatches=2)
    network, params, reports = trained(MatrixGame(), config)
    outputs = jax.jit(network.apply)(params, (), np.eye(2)[None, :, None, None], np.ones((1, 2), bool))[1]
    assert outputs.logits[0].argmax(axis=1).tolist() == [1, 2]
    np.testing.assert_allclose(reports.episodes.games[0], np.full(30, 128))
    mean = reports.episodes.total[0] / reports.episodes.games[0]
    assert mean[0] < 1.2
    assert mean[-1] > 0.97 * PAYOFFS.max()
    np.testing.assert_allclose(outputs.values[0], [3, 3], atol=0.2)


class Deal(NamedTuple):
    """Cards [2]: the learner's and the opponent's; coins [2]: whether the opponent bets or calls, when asked."""

    cards: jax.Array
    coins: jax.Array
    seat: jax.Array
    over: jax.Array
    clock: jax.Array
    total: jax.Array


class KuhnAgainstUniform(TinyGame):
    """Kuhn poker; the learner sits in either seat, the opponent tosses a coin. Action 1 is to bet or to call."""

    image_shape = (1, 1, 6)

    def drawn(self, key):
        deal, toss, sit = jax.random.split(key, 3)
        cards = jax.random.permutation(deal, 3)[:2]
        none = jnp.zeros((), jnp.int32)
        return Deal(
            cards, jax.random.bernoulli(toss, 0.5, (2,)), jax.random.randint(sit, (), 0, 2), none > 0, none, none * 1.0
        )

    def facing_bet(self, state):
        return jnp.where(state.seat == 0, state.clock > 0, state.coins[0])

    def played(self, state, actions):
        bold = actions[0] == 1
        showdown = jnp.sign(state.cards[0] - state.cards[1])
        facing = self.facing_bet(state)
        answer = jnp.where(state.seat == 0, state.coins[0], state.coins[1])
        goes_on = ~bold & (state.seat == 0) & (state.clock == 0) & state.coins[0]
        after_bet = jnp.where(bold, 2 * showdown, -1)
        after_none = jnp.where(bold, jnp.where(answer, 2 * showdown, 1), showdown)
        paid = jnp.where(goes_on, 0, jnp.where(facing, after_bet, after_none)).astype(jnp.float32)
        return state._replace(over=~goes_on), paid

    def seen(self, state):
        card = state.cards[0][None] == along(jnp.arange(3), state.clock)
        facts = jnp.stack([state.seat == 0, self.facing_bet(state), state.clock > 0])
        return jnp.concatenate([card, facts]).astype(jnp.float32)[None]


def kuhn_value(bold, seat):
    """Returns what the learner gets on average.

    Args:
        bold: probability to bet or to call, by (card, seat, whether a bet is faced).
        seat: the learner's.
    """

    def learner(card, other, first):
        win = 1 if card > other else -1
        chance = bold[card, seat, not first]
        if not first:
            return chance * 2 * win - (1 - chance)
        called = Fraction(1, 2) * 2 * win + Fraction(1, 2)
        if seat == 1:
            return chance * called + (1 - chance) * win
        return chance * called + (1 - chance) * (win + learner(card, other, False)) * Fraction(1, 2)

    deals = list(permutations(range(3), 2))
    if seat == 0:
        return sum(learner(*deal, True) for deal in deals) / len(deals)
    return sum(learner(*deal, True) + learner(*deal, False) for deal in deals) / (2 * len(deals))


@pytest.mark.slow
def test_best_response_to_a_uniform_player_of_kuhn_poker_is_found():
    best = []
    for seat in (0, 1):
        places = [(card, seat, facing) for card in range(3) for facing in (False, True)]
        tables = (dict(zip(places, map(Fraction, choice), strict=True)) for choice in product((0, 1), repeat=6))
        best.append(max(kuhn_value(table, seat) for table in tables))
    assert best == [Fraction(1, 2), Fraction(5, 12)]
    config = PpoConfig(
        80 * 1024, environments=128, steps=8, learning_rate=0.01, entropy=0.02, entropy_end=0.0, discount=1.0
    )
    network, params, _ = trained(KuhnAgainstUniform(), config)
    places = list(product(range(3), (0, 1), (False, True)))
    seen = [[card == 0, card == 1, card == 2, seat == 0, facing, seat == 0 and facing] for card, seat, facing in places]
    image = jnp.array(seen, jnp.float32)[None, :, None, None]
    logits = network.apply(params, (), image, jnp.ones((1, 12), bool))[1].logits[0]
    chances = np.exp(np.asarray(masked_categorical.log_probabilities(logits, jnp.ones_like(logits, bool))))[:, 1]
    drawn = dict(zip(places, chances.tolist(), strict=True))
    likeliest = dict(zip(places, (Fraction(int(chance > 0.5)) for chance in chances), strict=True))
    for seat in (0, 1):
        assert kuhn_value(likeliest, seat) == best[seat]
        assert best[seat] - kuhn_value(drawn, seat) < 0.02


class Cart(NamedTuple):
    """Place, speed, angle and its speed [4]."""

    motion: jax.Array
    over: jax.Array
    clock: jax.Array
    total: jax.Array


class CartPole(TinyGame):
    """The pole on a cart of Barto, Sutton and Anderson (1983), with 500 steps at most.

    A step counts 1; the learner is paid 1/50, which keeps discounted returns below 2, as large as advantages are.
    """

    image_shape = (1, 1, 4)

    def drawn(self, key):
        motion = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        return Cart(motion, jnp.zeros((), bool), jnp.zeros((), jnp.int32), jnp.zeros(()))

    def played(self, state, actions):
        place, speed, angle, turning = state.motion
        force = jnp.where(actions[0] == 1, 10.0, -10.0)
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        push = (force + 0.05 * turning**2 * sine) / 1.1
        twist = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        change = jnp.stack([speed, push - 0.05 * twist * cosine / 1.1, turning, twist])
        motion = state.motion + 0.02 * change
        fallen = (jnp.abs(motion[0]) > 2.4) | (jnp.abs(motion[2]) > 12 * jnp.pi / 180)
        return state._replace(motion=motion, over=fallen | (state.clock + 1 >= 500)), jnp.full_like(place, 1 / 50)

    def seen(self, state):
        return state.motion[None]


@pytest.mark.slow
def test_pole_on_a_cart_is_held_up():
    config = PpoConfig(300_000, environments=16, steps=128, learning_rate=1e-3, entropy=0.01, entropy_end=0.0)
    _, _, reports = trained(CartPole(), config, filters=64, hidden=64)
    late = slice(-30, None)
    mean = reports.episodes.length[0, late].sum() / reports.episodes.games[0, late].sum()
    early = reports.episodes.length[0, :5].sum() / reports.episodes.games[0, :5].sum()
    assert early < 60
    assert mean >= 475
