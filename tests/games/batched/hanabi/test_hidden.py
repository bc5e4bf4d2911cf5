"""What players of batched Hanabi cannot see, drawn anew: by the exact belief, and unseen by themselves."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.hanabi.environment import make
from games.batched.hanabi.hidden import HanabiHidden
from games.hanabi import belief

LANES, STEPS = 16, 9
DRAWN = 4_096


@pytest.fixture(scope="module")
def played():
    """The game with three colours, and random games after some steps, those that are over included."""
    env = make("hanabi-mini-2p")
    state, step = jax.jit(env.init)(jax.random.split(jax.random.key(0), LANES)), jax.jit(env.step)
    sample = jax.jit(env.sample)
    for number in range(STEPS):
        state, _ = step(state, sample(state, jax.random.uniform(jax.random.key(number), (LANES,))))
    return env, state


@pytest.fixture(scope="module")
def hidden(played):
    """What that game hides, and its functions, compiled."""
    slots = HanabiHidden(played[0].sizes)
    return slots, jax.jit(slots.known), jax.jit(slots.drawn), jax.jit(slots.with_hidden)


def test_players_know_what_left_the_deck_for_anywhere_but_their_own_hands(played, hidden):
    state, known = played[1], np.asarray(hidden[1](played[1]))
    deck, places, dealt = np.asarray(state.deck).T, np.asarray(state.places), np.asarray(state.dealt)
    np.testing.assert_array_equal(hidden[0].truth(state), deck)
    for game in range(LANES):
        for player in (0, 1):
            own = set(places[player, :, game]) - {-1}
            expected = [
                deck[game, place] if place < dealt[game] and place not in own else -1 for place in range(len(deck[0]))
            ]
            assert known[game, player].tolist() == expected


def test_a_game_drawn_anew_differs_in_nothing_that_the_player_sees_and_keeps_the_deck_whole(played, hidden):
    env, state = played
    show = jax.jit(env.observe)
    for player in (0, 1):
        kinds = hidden[2](state, jnp.full(LANES, player), jax.random.key(player))
        np.testing.assert_array_equal(np.sort(kinds, axis=1), np.tile(env.sizes.sorted_deck, (LANES, 1)))
        imagined = hidden[3](state, kinds)
        np.testing.assert_array_equal(show(imagined)[:, player], show(state)[:, player])
        np.testing.assert_array_equal(hidden[1](imagined)[:, player], hidden[1](state)[:, player])
        assert (np.asarray(imagined.cards[1 - player]) == np.asarray(state.cards[1 - player])).all()
        assert (np.asarray(imagined.cards[player]) != np.asarray(state.cards[player])).any()


def test_the_truth_is_one_of_the_decks_that_may_be_put_back(played, hidden):
    state = played[1]
    again = hidden[3](state, hidden[0].truth(state))
    jax.tree.map(np.testing.assert_array_equal, again, state)


def test_hands_are_drawn_by_the_exact_belief(played, hidden):
    env, state = played[0], jax.device_get(played[1])
    sizes, slots = env.sizes, hidden[0]
    draw, fitting = jax.jit(jax.vmap(slots._hand, (None, None, 0))), jax.jit(slots._fits)
    known = np.asarray(hidden[1](state))
    letters = sizes.config.kinds()
    hinted = 0
    for game in range(4):
        player = game % 2
        unseen = np.array(sizes.counts) - np.bincount(known[game, player][known[game, player] >= 0], minlength=9)
        masks = []
        for slot in range(sizes.hand):
            if state.cards[player, slot, game] >= 0:
                bits = int(state.colours[player, slot, game]), int(state.ranks[player, slot, game])
                colours = "".join(letter for bit, letter in enumerate("RYG") if bits[0] >> bit & 1)
                masks.append((colours, "".join(str(bit + 1) for bit in range(3) if bits[1] >> bit & 1)))
        hinted += sum(mask != ("RYG", "123") for mask in masks)
        expected = belief.chances(dict(zip(letters, unseen.tolist(), strict=True)), masks)
        fits = np.asarray(fitting(state, np.full(LANES, player)))[game]
        hands = np.asarray(draw(unseen.astype(np.float32), fits, jax.random.split(jax.random.key(game), DRAWN)))
        for slot, chances in enumerate(expected):
            found = Counter(letters[kind] for kind in hands[:, slot])
            assert set(found) <= set(chances)
            for card, chance in chances.items():
                spread = (float(chance) * (1 - float(chance)) / DRAWN) ** 0.5
                assert abs(found[card] / DRAWN - float(chance)) <= 4.5 * spread
    assert hinted > 0
