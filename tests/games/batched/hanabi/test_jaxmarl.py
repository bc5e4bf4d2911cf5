"""Batched Hanabi with counted chances beside JaxMARL's, move for move."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

import jaxmarl

from games.batched.hanabi.environment import make

pytestmark = pytest.mark.extra("jaxmarl")

LANES = 50
MOVES = 90
HANDS = {2: 5, 3: 5, 4: 4, 5: 4}
"""Cards in a hand, by number of players."""


def lanes_of(ours, theirs):
    """Returns states of both, dealt the same decks, and what JaxMARL's players see at first."""
    keys = jax.random.split(jax.random.key(2033), LANES)
    decks = jax.vmap(lambda key: ours.init(key).deck)(keys)
    pairs = jnp.stack([decks // ours.sizes.ranks, decks % ours.sizes.ranks], axis=-1)
    seen, states = jax.jit(jax.vmap(theirs.reset_from_deck_of_pairs))(pairs)
    return jax.jit(ours.start)(decks.T), seen, states


def drawn(rng, masks, hand):
    """Returns a legal move of every lane; cards are seldom played, so that games last."""
    weights = masks.astype(float)
    weights[:, hand : 2 * hand] *= 0.1
    return np.array([rng.choice(len(row), p=row / row.sum()) for row in weights])


@pytest.mark.parametrize("players", HANDS)
def test_what_players_see_is_what_jaxmarl_shows_them_bit_for_bit(players):
    ours, theirs = make(f"hanabi-{players}p", belief="v0"), jaxmarl.make("hanabi", num_agents=players)
    state, seen, game = lanes_of(ours, theirs)
    step, show = jax.jit(ours.step), jax.jit(lambda state: (ours.observe(state)[:, :, 0, 0], ours.legal_mask(state)))
    step_env = jax.jit(jax.vmap(theirs.step_env, in_axes=(None, 0, 0)))
    legal = jax.jit(jax.vmap(theirs.get_legal_moves))
    rng = np.random.default_rng(7)
    over = np.zeros(LANES, bool)
    compared = 0
    for _ in range(MOVES):
        features, mask = map(np.asarray, show(state))
        expected = np.stack([np.asarray(seen[agent]) for agent in theirs.agents], axis=1)
        np.testing.assert_allclose(features[~over], expected[~over], atol=1e-6)
        masks = np.stack([np.asarray(legal(game)[agent]) for agent in theirs.agents], axis=1).astype(bool)
        np.testing.assert_array_equal(mask[~over], masks[~over])
        compared += int((~over).sum())
        if over.all():
            break
        player = np.where(over, 0, np.asarray(state.player))
        moves = drawn(rng, mask[np.arange(LANES), player], HANDS[players])
        actions = np.full((LANES, players), ours.sizes.no_op, np.int32)
        actions[np.arange(LANES), player] = moves
        state, paid = step(state, jnp.asarray(actions))
        keyed = {agent: jnp.asarray(actions[:, seat]) for seat, agent in enumerate(theirs.agents)}
        seen, game, _, dones, _ = step_env(jax.random.key(0), game, keyed)
        np.testing.assert_array_equal(np.asarray(paid.done)[~over], np.asarray(dones["__all__"])[~over])
        over |= np.asarray(paid.done)
    assert compared > 20 * LANES
