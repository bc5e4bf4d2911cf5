"""A twin as a batched environment: chance inside of a step, players who wait, games that end, symmetries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.cooperation_on_twins.environment import Renaming, TwinEnv
from games.batched.wrappers import AutoReset

B = 8
SWAP = Renaming(np.array([[0, 1], [1, 0]], np.int32), np.array([[0, 1], [1, 0]], np.int32))


class Compiled:
    """An environment whose functions are compiled."""

    def __init__(self, env):
        self.env = env
        for name in ("init", "step", "observe", "legal_mask", "sample", "outcome"):
            setattr(self, name, jax.jit(getattr(env, name)))


@pytest.fixture(scope="module")
def env(echo):
    return Compiled(TwinEnv(*echo, max_actions=10))


def keys(seed):
    return jax.random.split(jax.random.key(seed), B)


def actions(first, second):
    return np.stack([np.broadcast_to(first, B), np.broadcast_to(second, B)], axis=1).astype(np.int32)


def test_a_game_begins_at_a_decision_of_the_player_who_sees_what_chance_did(env):
    dealt = env.init(keys(0))
    coin = np.asarray(dealt.copies[1][0])
    assert set(coin) == {0, 1}
    image = np.asarray(env.observe(dealt)).reshape(B, 2, 3)
    assert (image[:, 1, :2] == np.eye(2)[coin]).all()
    assert (image[:, :, 2] == [0, 1]).all()
    assert np.asarray(env.legal_mask(dealt)).tolist() == [[[True, False], [True, True]]] * B
    assert set(np.asarray(env.sample(dealt, jax.numpy.full(B, 0.9)))[:, 1]) == {1}


def test_lanes_are_the_games_of_their_own_keys(env):
    many, one = env.init(keys(1)), env.init(keys(1)[3])
    assert jax.tree.map(lambda leaf: leaf[..., 3].tolist(), many) == jax.tree.map(lambda leaf: leaf.tolist(), one)


def test_both_are_paid_at_the_end_and_the_next_game_begins(env):
    games = AutoReset(env.env, dealt_at_once=2)
    play = jax.jit(games.step)
    dealt = env.init(keys(2))
    coin = np.asarray(dealt.copies[1][0])
    told, paid = play(dealt, actions(0, coin), keys(3))
    assert not paid.done.any()
    assert np.asarray(env.legal_mask(told))[:, 0].all()
    after, paid = play(told, actions(coin, 0), keys(4))
    assert paid.done.all()
    assert (np.asarray(paid.reward) == 1).all()
    assert np.asarray(paid.outcome.total).tolist() == [1.0] * B
    assert np.asarray(paid.outcome.length).tolist() == [2] * B
    assert paid.outcome.figures["positive"].all()
    assert not paid.outcome.figures["cut"].any()
    assert np.asarray(after.length).tolist() == [0] * B
    assert np.asarray(after.totals).tolist() == np.zeros((2, B)).tolist()


def test_what_is_not_legal_is_replaced_and_said_and_a_finished_game_stands_still(env):
    following, paid = env.step(env.init(keys(5)), actions(1, 7), keys(6))
    assert paid.info["illegal"].all()
    assert np.asarray(following.copies[2][0, :, 0]).tolist() == [2, 0]
    ended, paid = env.step(following, actions(0, 0), keys(7))
    again, more = env.step(ended, actions(1, 1), keys(8))
    assert paid.done.all()
    assert not more.done.any()
    assert not more.reward.any()
    assert jax.tree.map(np.ndarray.tolist, jax.device_get(again)) == jax.tree.map(
        np.ndarray.tolist, jax.device_get(ended)
    )


def test_a_game_that_is_too_long_is_cut(echo):
    short = Compiled(TwinEnv(*echo, max_actions=1))
    state, paid = short.step(short.init(keys(0)), actions(0, 1), keys(1))
    assert paid.done.all()
    assert short.outcome(state).figures["cut"].all()


def test_players_with_symmetries_of_their_own_see_the_same_game_under_other_names(echo):
    env = Compiled(TwinEnv(*echo, max_actions=10, symmetries=SWAP))
    dealt = env.init(keys(9))
    symmetry, coins = np.asarray(dealt.symmetry), np.asarray(dealt.copies[1])
    assert {tuple(pair) for pair in symmetry.T} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert ((coins ^ symmetry)[0] == (coins ^ symmetry)[1]).all()
    image = np.asarray(env.observe(dealt)).reshape(B, 2, 3)
    assert (image[:, 1, :2] == np.eye(2)[coins[1]]).all()
    # Each says in its own words what the coin is to it.
    told, _ = env.step(dealt, actions(0, coins[1]), keys(10))
    heard = np.asarray(env.observe(told)).reshape(B, 2, 3)[:, 0, :2]
    assert (heard == np.eye(2)[coins[0]]).all()
    _, paid = env.step(told, actions(coins[0], 0), keys(11))
    assert (np.asarray(paid.reward) == 1).all()


def test_what_is_paid_before_the_first_decision_is_part_of_the_return(echo):
    form, functions = echo

    def look(*state):
        turn, legal, chance, _, seen = functions["look"](*state)
        # The deal pays 3 to both; what they say pays nothing.
        return turn, legal, chance, jnp.where(turn == 1, 3.0, 0.0) * jnp.ones(2), seen

    paying = Compiled(TwinEnv(form, functions | {"look": look}, max_actions=10))
    dealt = paying.init(keys(0))
    assert np.asarray(paying.outcome(dealt).total).tolist() == [3.0] * B
    said, _ = paying.step(dealt, actions(0, 1), keys(1))
    assert np.asarray(paying.outcome(said).total).tolist() == [3.0] * B
