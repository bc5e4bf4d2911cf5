import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.yokai.environment import make
from games.batched.yokai.graph import YokaiGraphEnv
from search.learn.errors import NetworkConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.networks.encoders.slots import features

GAME = "yokai-8c-2p"
CARDS, SIDE, CHANNELS, HINTS = 8, 7, 11, 3
IDENTITY = CHANNELS - 2
EACH = CHANNELS + 2 * SIDE + CARDS


@pytest.fixture(scope="module")
def positions():
    """Positions after 0 to 15 random actions."""
    env = make(GAME, memory=True)
    state = jax.jit(env.init)(jax.random.split(jax.random.key(5), 16))
    kept = [state]
    step = jax.jit(lambda state, draw: env.step(state, env.sample(state, draw))[0])
    for number in range(15):
        state = step(state, jax.random.uniform(jax.random.key(number), (16,)))
        kept.append(state)
    return kept


@pytest.fixture(scope="module")
def show():
    """Returns a function from positions to images."""
    return jax.jit(make(GAME, memory=True).observe)


@pytest.fixture(scope="module")
def show_graph():
    """Returns a function from positions to graphs."""
    return jax.jit(YokaiGraphEnv(CARDS, 2, True).observe)


@jax.jit
def objects(image):
    seen = features(image, CARDS, IDENTITY, 1)
    split = CARDS * EACH
    return seen[..., :split].reshape(*seen.shape[:-1], CARDS, EACH), seen[..., split:]


def test_every_object_shows_what_the_node_of_its_graph_shows(positions, show, show_graph):
    for state in positions:
        each = np.asarray(objects(show(state))[0])
        nodes = show_graph(state).nodes[..., :CARDS, :]
        np.testing.assert_allclose(each[..., :CHANNELS], nodes, atol=1e-6)


def test_rows_and_columns_are_those_of_the_cell(positions, show):
    for state in positions:
        each, _ = objects(show(state))
        cells = np.moveaxis(np.asarray(state.cells), -1, 0)[:, None]
        each = np.asarray(each)
        row = each[..., CHANNELS : CHANNELS + SIDE]
        column = each[..., CHANNELS + SIDE : CHANNELS + 2 * SIDE]
        np.testing.assert_array_equal(row, np.broadcast_to(np.eye(SIDE)[cells // SIDE], row.shape))
        np.testing.assert_array_equal(column, np.broadcast_to(np.eye(SIDE)[cells % SIDE], column.shape))


def test_objects_touch_as_the_adjacency_says(positions, show, show_graph):
    for state in positions:
        each, _ = objects(show(state))
        np.testing.assert_array_equal(np.asarray(each)[..., -CARDS:], show_graph(state).adjacency)


def test_columns_beside_the_grid_are_passed_on(positions, show):
    image = show(positions[-1])
    _, rest = objects(image)
    np.testing.assert_array_equal(rest, image[..., SIDE:, :].reshape(*image.shape[:-3], -1))


def test_network_reads_images_object_by_object(positions, show):
    env = make(GAME, memory=True)
    config = NetworkConfig(
        encoder="slots", filters=16, layers=1, hidden=16, head_scale=1.0, objects=(CARDS, IDENTITY, 1)
    )
    network = ActorCritic(config, env.num_actions)
    image = show(positions[3]).reshape(1, -1, *env.image_shape)
    params = jax.jit(network.init)(jax.random.key(0), image)
    starts = np.ones((1, 32), bool)
    read = jax.jit(lambda image: network.apply(params, network.initial_memory(32), image, starts)[1])
    outputs = read(image)
    assert outputs.logits.shape == (1, 32, env.num_actions)
    assert NetworkConfig.from_json(config.to_json()) == config
    # What stands on cells without an object says nothing; what stands on an object's cell does, in every game.
    image = np.asarray(image)
    within = np.arange(image.shape[-2])[:, None] < SIDE
    empty = (image[..., IDENTITY] == 0)[..., None]
    shift = 0.5 * (np.arange(CHANNELS) == 0) * within
    beside, on = (read(image + (where * shift).astype(np.float32)).logits for where in (empty, ~empty))
    np.testing.assert_array_equal(beside, outputs.logits)
    assert (on != outputs.logits).any(axis=-1).all()


@pytest.mark.parametrize(("channel", "columns"), [(CHANNELS, 1), (IDENTITY, SIDE + 1)])
def test_objects_of_another_image_are_refused(channel, columns):
    with pytest.raises(NetworkConfigError, match="Images are 7 × 8 × 11"):
        jax.eval_shape(lambda image: features(image, CARDS, channel, columns), jnp.zeros((SIDE, SIDE + 1, CHANNELS)))


@pytest.mark.parametrize("given", [(0, 9, 1), ()])
def test_objects_that_are_none_are_refused(given):
    with pytest.raises(ValueError, match="objects is"):
        NetworkConfig(encoder="slots", objects=given)
