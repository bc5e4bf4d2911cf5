"""Permuted colours: a whole game and its image are the same game, in every mask and every feature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.hanabi.environment import make
from games.batched.hanabi.symmetry import ColourSymmetries

SYMMETRIES = {"hanabi-mini-2p": 6, "hanabi-5p": 120}


@pytest.mark.parametrize("game_id", ["hanabi-mini-2p", pytest.param("hanabi-5p", marks=pytest.mark.slow)])
def test_the_image_of_a_whole_game_is_the_game_of_the_permuted_deck(game_id):
    env = make(game_id)
    group = ColourSymmetries(env.sizes)
    assert len(group) == SYMMETRIES[game_id]
    deck = np.random.default_rng(3).permutation(env.sizes.sorted_deck)
    numbers = np.arange(len(group))
    decks = np.concatenate([deck[None], group.kind_to[:, deck]])  # the game itself, then its images
    state = jax.jit(env.start)(jnp.asarray(decks.T, jnp.int8))
    step, sample = jax.jit(env.step), jax.jit(env.sample)
    show = jax.jit(lambda state: (env.observe(state), env.legal_mask(state)))
    of_player = jax.vmap(group.image, (None, 0)), jax.vmap(group.mask, (None, 0)), jax.vmap(group.action, (None, 0))
    moved = jax.jit(
        lambda seen, mask, action: tuple(
            jax.vmap(one, (0, None))(numbers, value) for one, value in zip(of_player, (seen, mask, action), strict=True)
        )
    )
    back = jax.jit(jax.vmap(jax.vmap(group.inverse_action), (0, 0)))
    for number in range(env.sizes.max_length):
        actions = np.asarray(sample(state, jax.random.uniform(jax.random.key(number), (len(decks),))))[0]
        seen, mask = jax.device_get(show(state))
        images, masks, mapped = moved(seen[0], mask[0], actions)
        np.testing.assert_array_equal(images, seen[1:])
        np.testing.assert_array_equal(masks, mask[1:])
        both = np.repeat(numbers[:, None], env.num_players, axis=1)
        np.testing.assert_array_equal(back(both, mapped), np.broadcast_to(actions, mapped.shape))
        state, paid = step(state, np.concatenate([actions[None], mapped]))
        assert not np.asarray(paid.info["illegal"]).any()
        assert len(np.unique(paid.reward)) == 1
    assert (np.asarray(state.length) == np.asarray(state.length)[0]).all()
    assert np.asarray(paid.done).all()
    assert (images[0] == seen[0]).all()  # number 0 changes nothing
    assert (images[1:] != seen[0]).any()
