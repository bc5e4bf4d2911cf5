import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.api import lane
from games.batched.other_play import OtherPlay, TransformedState
from games.batched.wrappers import AutoReset
from games.batched.yokai.environment import make
from games.yokai.symmetry import Symmetries

LANES = 24
KEYS = jax.random.split(jax.random.key(4), LANES)


def transform(env, symmetries, number, state):
    """Returns the image of one game, without lane axis, under a symmetry, which may be a traced scalar."""
    t = jax.tree.map(lambda table: jnp.asarray(table)[number], symmetries.tables)
    sizes = env.sizes
    card = state.hint_card[t.hint_from]
    image = state._replace(
        colours=jnp.asarray(t.colour_to)[state.colours][t.card_from],
        hints=jnp.asarray(t.subset_to)[state.hints][t.hint_from],
        cells=jnp.asarray(t.cell_to)[state.cells][t.card_from],
        locked=state.locked[t.card_from],
        status=state.status[t.hint_from],
        hint_card=jnp.where(card >= 0, jnp.asarray(t.card_to)[jnp.clip(card, 0, sizes.cards - 1)], card),
        observed=state.observed[:, t.card_from],
        seen=state.seen[t.card_from],
    )
    return env.with_legal(image)


@pytest.fixture(scope="module", params=["yokai-9c-2p", pytest.param("yokai-8c-2p", marks=pytest.mark.slow)])
def parts(request):
    env = make(request.param)
    group = Symmetries(env.sizes.config)
    return env, group, OtherPlay(env, group)


@pytest.fixture(scope="module")
def states(parts):
    env = parts[0]
    step, sample = jax.jit(env.step), jax.jit(env.sample)
    state, found = jax.jit(env.init)(jax.random.split(jax.random.key(0), LANES)), []
    for number in range(12):
        found.append(state)
        state, _ = step(state, sample(state, jax.random.uniform(jax.random.key(number), (LANES,)) * 0.9))
    return jax.device_get(found)


def test_jax_and_numpy_agree_on_every_element(parts, states):
    env, group, _ = parts
    state = jax.tree.map(jnp.asarray, lane(states[7], 3))
    moved = jax.jit(jax.vmap(lambda number: transform(env, group, number, state)))(np.arange(len(group)))
    moved = jax.device_get(moved)
    show = jax.jit(lambda s: (env.observe(s), env.legal_mask(s), env.observe_graph(s)))
    image, mask, nodes = show(state)
    turn = jax.jit(
        jax.vmap(lambda n: (group.image(n, image), group.mask(n, mask), group.graph(n, nodes.nodes, nodes.adjacency)))
    )(np.arange(len(group)))
    turn = jax.device_get(turn)
    for number in range(len(group)):
        own = jax.tree.map(lambda array, n=number: array[n], moved)
        picture, legal, graph = show(own)
        np.testing.assert_array_equal(turn[0][number], picture)
        np.testing.assert_array_equal(turn[0][number], group.image(number, np.asarray(image)))
        np.testing.assert_array_equal(turn[1][number], legal)
        np.testing.assert_array_equal(turn[1][number], group.mask(number, np.asarray(mask)))
        np.testing.assert_array_equal(turn[2][0][number], graph.nodes)
        np.testing.assert_array_equal(turn[2][1][number], graph.adjacency)


def test_players_see_and_act_through_their_own_symmetries(parts, states):
    env, group, wrapped = parts
    symmetry = np.random.default_rng(5).integers(0, len(group), (2, LANES), np.int32)
    step, plain_step = jax.jit(wrapped.step), jax.jit(env.step)
    sample, wrapped_sample = jax.jit(env.sample), jax.jit(wrapped.sample)
    show = jax.jit(lambda s: (env.observe(s.game), wrapped.legal_mask(s), wrapped.observe(s)))
    for plain in states[::3]:
        state = TransformedState(plain, symmetry)
        uniform = jax.random.uniform(jax.random.key(9), (LANES,))
        original, seen = sample(plain, uniform), wrapped_sample(state, uniform)
        pictures, masks, shown = (np.asarray(array) for array in show(state))
        assert np.take_along_axis(masks, np.asarray(seen)[:, :, None], axis=2).all()
        after, transition = step(state, seen, KEYS)
        expected, paid = plain_step(plain, original, KEYS)
        jax.tree.map(np.testing.assert_array_equal, after.game, expected)
        assert not transition.info["illegal"].any()
        np.testing.assert_array_equal(transition.reward, paid.reward)
        for player in range(2):
            picture = group.image(int(symmetry[player, 4]), pictures[4, player])
            np.testing.assert_array_equal(shown[4, player], picture)


def test_symmetries_are_drawn_anew_for_each_game_and_player(parts):
    _, group, wrapped = parts
    state = jax.device_get(jax.jit(wrapped.init)(jax.random.split(jax.random.key(1), 2000)))
    assert set(np.asarray(state.symmetry).ravel()) == set(range(len(group)))
    assert abs((state.symmetry[0] == state.symmetry[1]).mean() - 1 / len(group)) < 0.02
    reset = AutoReset(wrapped)
    ended = np.full((2000, 2), wrapped.num_actions - 1)
    keys = jax.random.split(jax.random.key(2), 2000)
    after, transition = jax.device_get(jax.jit(reset.step)(state, ended, keys))
    assert transition.done.all()
    assert abs((after.symmetry == state.symmetry).mean() - 1 / len(group)) < 0.02


def test_an_unknown_action_stays_illegal(parts, states):
    wrapped = parts[2]
    state = TransformedState(states[0], jnp.ones((2, LANES), jnp.int32))
    _, transition = jax.jit(wrapped.step)(state, jnp.full((LANES, 2), 5000), KEYS)
    assert transition.info["illegal"].all()
