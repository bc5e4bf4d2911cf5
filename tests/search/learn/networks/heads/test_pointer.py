import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.yokai.environment import make
from search.learn.errors import NetworkConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.learn.networks.heads.pointer import Pointer, beside

HEIGHT, COLUMNS, CHANNELS, OBJECTS, ITEMS, WIDTH = 3, 4, 5, 2, 2, 4
CELLS = HEIGHT * COLUMNS
IDENTITY = 4
KINDS = ("plain", "objects", "objects at cells", "items", "items at cells", "plain")
COUNT = 1 + OBJECTS + OBJECTS * CELLS + ITEMS + ITEMS * CELLS + 1
pointer = Pointer(KINDS, OBJECTS, IDENTITY, 1, ITEMS, WIDTH, scale=1.0)
apply = jax.jit(pointer.apply)


def picture(places, colours=None, items=((0, 0), (0, 0))):
    """An image with objects at cells, channels 0 and 1 their colours; items in the extra column likewise."""
    image = np.zeros((HEIGHT, COLUMNS + 1, CHANNELS), np.float32)
    for number, cell in enumerate(places):
        image[cell // COLUMNS, cell % COLUMNS, IDENTITY] = (number + 1) / OBJECTS
        image[cell // COLUMNS, cell % COLUMNS, :2] = (colours or ((0, 0), (0, 0)))[number]
    for number, colour in enumerate(items):
        image[number, COLUMNS, :2] = colour
    return image


def parts(logits):
    ends = np.cumsum([1, OBJECTS, OBJECTS * CELLS, ITEMS, ITEMS * CELLS])
    _, objects, moves, items, placements, _ = np.split(np.asarray(logits), ends)
    return objects, moves.reshape(OBJECTS, CELLS), items, placements.reshape(ITEMS, CELLS)


@pytest.fixture(scope="module")
def fitted():
    hidden = jax.random.normal(jax.random.key(0), (6,))
    params = jax.jit(pointer.init)(jax.random.key(1), hidden, picture([0, 5]))
    # Nothing may tell cells and objects apart but what they show.
    made = params["params"]
    made = made | {name: jnp.zeros_like(made[name]) for name in ("places", "objects_own", "items_own")}
    return {"params": made}, hidden


def test_neighbours_are_added_up():
    grid = np.zeros((HEIGHT, COLUMNS, 2), np.float32)
    grid[1, 1], grid[2, 1] = (1.0, 10.0), (2.0, 0.0)
    total = np.asarray(jax.jit(beside)(grid))
    assert total[0, 1].tolist() == [1, 10]
    assert total[1, 1].tolist() == [2, 0]
    assert total[2, 1].tolist() == [1, 10]
    assert total[1, 0].tolist() == [1, 10]
    assert total[2, 2].tolist() == [2, 0]
    assert total[0, 0].tolist() == [0, 0]
    assert total.sum() == 4 * 11 + 3 * 2


def test_every_action_gets_a_logit_whatever_the_leading_axes(fitted):
    params, hidden = fitted
    image = picture([0, 5], ((1, 0), (0, 1)))
    alone = apply(params, hidden, image)
    assert alone.shape == (COUNT,)
    many = apply(params, np.tile(hidden, (2, 3, 1)), np.tile(image, (2, 3, 1, 1, 1)))
    assert many.shape == (2, 3, COUNT)
    np.testing.assert_allclose(many[1, 2], alone, rtol=1e-5, atol=1e-6)


def test_what_is_learned_of_one_place_holds_at_another(fitted):
    """A picture moved by one column moves the logits of pairs with it, where nothing lies at the edge."""
    params, hidden = fitted
    colours = ((1, 0), (0, 1))
    here, moves, _, placements = parts(apply(params, hidden, picture([4 + 1, 8 + 1], colours)))
    there, moved, _, placed = parts(apply(params, hidden, picture([4 + 2, 8 + 2], colours)))
    np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-6)
    shape = (-1, HEIGHT, COLUMNS)
    for before, after in ((moves, moved), (placements, placed)):
        np.testing.assert_allclose(before.reshape(shape)[..., :-1], after.reshape(shape)[..., 1:], rtol=1e-5, atol=1e-6)


def test_objects_that_show_the_same_are_judged_alike(fitted):
    params, hidden = fitted
    image = picture([0, 3], ((1, 0), (1, 0)))
    image[..., IDENTITY] = 0
    image[0, [0, 3], IDENTITY] = 0.5, 1.0
    # Identities are channels like others: here nothing is made of them.
    kernels = params["params"]
    blind = {
        name: {**kernels[name], "kernel": kernels[name]["kernel"].at[jnp.array([IDENTITY])].set(0.0)}
        for name in ("objects_features",)
    }
    objects, moves, _, _ = parts(apply({"params": kernels | blind}, hidden, image))
    assert objects[0] == pytest.approx(objects[1], rel=1e-5)
    np.testing.assert_allclose(moves[0], moves[1], rtol=1e-5, atol=1e-6)


def test_an_item_is_judged_by_what_its_place_shows(fitted):
    params, hidden = fitted
    _, _, items, placements = parts(apply(params, hidden, picture([0, 5], None, ((1, 0), (0, 1)))))
    _, _, turned, placed = parts(apply(params, hidden, picture([0, 5], None, ((0, 1), (1, 0)))))
    assert abs(items[0] - items[1]) > 1e-3
    np.testing.assert_allclose(items, turned[::-1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(placements, placed[::-1], rtol=1e-5, atol=1e-6)


def test_actions_of_a_game_without_items_or_plain_actions_are_scored():
    bare = Pointer(("objects", "objects at cells"), OBJECTS, IDENTITY, 0, 0, WIDTH)
    image = picture([0, 5])[:, :COLUMNS]
    logits, _ = jax.eval_shape(bare.init_with_output, jax.random.key(0), jnp.ones(6), image)
    assert logits.shape == (OBJECTS + OBJECTS * CELLS,)


def config(**changes):
    made = {
        "encoder": "mlp",
        "hidden": 8,
        "filters": 8,
        "layers": 1,
        "objects": (8, 9, 1),
        "actions": ("plain", "objects", "objects at cells", "items", "items at cells", "plain"),
        "items": 3,
    }
    return NetworkConfig(**made | changes)


def test_a_network_that_points_scores_the_actions_of_a_game_and_begins_without_preferences():
    env = make("yokai-8c-2p", memory=True)
    network = ActorCritic(config(), env.num_actions)
    shown = jax.jit(lambda keys: env.observe(env.init(keys)))(jax.random.split(jax.random.key(0), 3))
    seen = shown.reshape(1, 6, *env.image_shape)
    params = jax.jit(network.init)(jax.random.key(0), seen)
    _, outputs = jax.jit(network.apply)(params, network.initial_memory(6), seen, jnp.ones((1, 6), bool))
    assert outputs.logits.shape == (1, 6, env.num_actions)
    assert not outputs.logits.any()


def test_a_network_whose_actions_are_not_those_of_the_game_is_refused():
    env = make("yokai-8c-2p", memory=True)
    network = ActorCritic(config(items=2), env.num_actions)
    with pytest.raises(NetworkConfigError, match="502 logits, but there are 552 actions"):
        jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, 2, *env.image_shape)))


@pytest.mark.parametrize(("channel", "columns"), [(CHANNELS, 1), (IDENTITY, COLUMNS + 1)])
def test_objects_of_another_image_are_refused(channel, columns):
    of_another = Pointer(KINDS, OBJECTS, channel, columns, ITEMS, WIDTH)
    with pytest.raises(NetworkConfigError, match="Images are 3 × 5 × 5"):
        jax.eval_shape(of_another.init, jax.random.key(0), jnp.ones(6), picture([0, 5]))


def test_configuration_of_a_pointer_survives_its_record():
    made = config()
    assert NetworkConfig.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"actions": ("plain", "cards")}, "actions holds 'cards'"),
        ({"encoder": "gcn"}, "the encoder is 'gcn'"),
        ({"items": 0}, "items is 0"),
        ({"objects": (8, 9, 0)}, "in a column beside the grid"),
        ({"objects": (0, 0, 0)}, r"objects is \(0, 0, 0\)"),
        ({"pointer_width": 0}, "pointer_width is 0"),
    ],
)
def test_wrong_configuration_of_a_pointer_is_refused_by_name(wrong, message):
    with pytest.raises(NetworkConfigError, match=message):
        config(**wrong)
