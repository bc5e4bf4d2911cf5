"""Environments of JaxMARL as batched environments, where JaxMARL is installed."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

import jaxmarl
from jaxmarl.environments import spaces
from jaxmarl.environments.multi_agent_env import MultiAgentEnv, State
from jaxmarl.environments.overcooked_v2.common import DynamicObject
from jaxmarl.environments.overcooked_v2.layouts import overcooked_v2_layouts

from games.batched import registry
from games.batched.api import lane, stack
from games.batched.from_jaxmarl import FromJaxMarl, JaxMarlError
from games.batched.jaxmarl import MultiAgentGame
from games.batched.jaxmarl import make as make_for_jaxmarl
from games.batched.wrappers import AutoReset
from games.posg.overcooked_v2 import layouts

pytestmark = pytest.mark.extra("jaxmarl")

LANES = 2
SMALL_HANABI = {"num_colors": 2, "num_ranks": 2, "hand_size": 2, "num_cards_of_rank": np.array([3, 2])}
ENVIRONMENTS = {
    "coin game": lambda: jaxmarl.make("coin_game", num_inner_steps=4, num_outer_steps=2),
    "hanabi": lambda: jaxmarl.make("hanabi", **SMALL_HANABI),
    "spread": lambda: jaxmarl.make("MPE_simple_spread_v3", max_steps=6),
    "speaker and listener": lambda: jaxmarl.make("MPE_simple_speaker_listener_v4", max_steps=6),
}


def keys_at(number, lanes=LANES):
    return jax.random.split(jax.random.key(number), lanes)


def random_actions(env, state, number):
    return jax.jit(env.sample)(state, jax.random.uniform(jax.random.key(number), (LANES,)))


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_game_is_that_of_jaxmarl_step_for_step_and_stays_as_it_ended(name):
    theirs = ENVIRONMENTS[name]()
    ours = FromJaxMarl(theirs)
    step, step_env = jax.jit(ours.step), jax.jit(jax.vmap(theirs.step_env))
    state = jax.jit(ours.init)(keys_at(0))
    seen, game = jax.vmap(theirs.reset)(keys_at(0))
    shape, total = ours.image_shape, np.zeros((LANES, ours.num_players))
    for number in range(1, 60):
        shown = ours.observe(state).reshape(LANES, ours.num_players, -1)
        for seat, agent in enumerate(theirs.agents):
            own = np.asarray(seen[agent], np.float32).reshape(LANES, -1)
            np.testing.assert_array_equal(shown[:, seat, : own.shape[1]], own)
            assert not shown[:, seat, own.shape[1] :].any()
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(jnp.moveaxis(a, -1, 0), b), state.game, game)
        actions = random_actions(ours, state, number)
        state, paid = step(state, actions, keys_at(number))
        by_agent = {agent: actions[:, seat] for seat, agent in enumerate(theirs.agents)}
        seen, game, rewards, dones, _ = step_env(keys_at(number), game, by_agent)
        np.testing.assert_allclose(paid.reward, jnp.stack([rewards[agent] for agent in theirs.agents], 1), rtol=1e-6)
        np.testing.assert_array_equal(paid.done, dones["__all__"])
        assert not paid.info["illegal"].any()
        total += np.asarray(paid.reward)
        if paid.done.any():
            break
    assert paid.done.any()
    assert ours.observe(state).shape == (LANES, ours.num_players, *shape)
    outcome = ours.outcome(state)
    np.testing.assert_allclose(outcome.total, total.mean(axis=1), rtol=1e-5, atol=1e-6)
    ended = int(np.argmax(paid.done))
    after, paid = step(state, random_actions(ours, state, 99), keys_at(99))
    jax.tree.map(np.testing.assert_array_equal, lane(after, ended), lane(state, ended))
    assert not paid.reward[ended].any()
    assert not paid.done[ended]


def test_masks_are_jaxmarls_where_it_has_some_and_an_illegal_action_is_the_lowest_legal_one():
    ours = FromJaxMarl(ENVIRONMENTS["hanabi"]())
    state = ours.init(jax.random.key(0))
    legal = ours.legal_mask(state)
    told = ours.env.get_legal_moves(state.game)
    np.testing.assert_array_equal(legal, jnp.stack([told["agent_0"], told["agent_1"]]).astype(bool))
    assert np.flatnonzero(legal[1]).tolist() == [ours.num_actions - 1]  # nothing but waiting
    first = jnp.argmax(legal, axis=1)
    assert first[0] == 2  # no discard while nobody needs a hint
    wrong = jnp.array([ours.num_actions - 1, 0])
    step = jax.jit(ours.step)
    after, paid = step(state, wrong, jax.random.key(1))
    same, _ = step(state, first, jax.random.key(1))
    assert paid.info["illegal"].tolist() == [True, True]
    jax.tree.map(np.testing.assert_array_equal, after, same)


def test_an_agent_with_fewer_actions_may_choose_among_its_own_alone():
    ours = FromJaxMarl(ENVIRONMENTS["speaker and listener"]())
    state = ours.init(jax.random.key(0))
    assert ours.legal_mask(state).tolist() == [[True] * 3 + [False] * 2, [True] * 5]


class Odd(MultiAgentEnv):
    """One agent that counts; what is said changes what is odd about it."""

    def __init__(self, actions=None, seen=lambda step: jnp.zeros(2), state=lambda step: step, mask=None):
        super().__init__(1)
        self.action_spaces = {"agent_0": actions or spaces.Discrete(2)}
        self._seen, self._state, self._mask = seen, state, mask

    def reset(self, key):
        return {"agent_0": self._seen(0)}, State(done=jnp.array(False), step=jnp.array(0))

    def step_env(self, key, state, actions):
        after = State(done=jnp.array(False), step=self._state(state.step + 1))
        return {"agent_0": self._seen(1)}, after, {"agent_0": 1.0}, {"__all__": jnp.array(False)}, {}


class Masked(Odd):
    def get_avail_actions(self, state):
        return {"agent_0": self._mask}


def failing(step):
    if step:
        raise KeyError("pan")
    return jnp.zeros(2)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (lambda: Odd(seen=lambda step: jnp.zeros(2 + step)), r"changes its shape from \[\(2,\)\] to \[\(3,\)\]"),
        (lambda: Odd(seen=lambda step: {"a": jnp.zeros(2)}), "an observation is no array, but several"),
        (
            lambda: Odd(seen=lambda step: jnp.zeros(())),
            r"observations have the shapes \(\); expected vectors, or images",
        ),
        (lambda: Odd(seen=failing), "its step cannot be compiled .KeyError: 'pan'"),
        (lambda: Odd(state=lambda step: step[None]), "its state has other arrays after a step than after a reset"),
        (lambda: Odd(spaces.Box(0, 1, (2,))), "the actions of agent_0 are a Box, expected Discrete"),
        (lambda: Masked(mask=jnp.ones(3)), "its mask of legal actions does not tell of the 2 actions of agent_0"),
    ],
)
def test_what_cannot_be_batched_is_refused_with_the_reason(env, words):
    with pytest.raises(JaxMarlError, match=words):
        FromJaxMarl(env())


def test_every_layout_of_jaxmarl_is_known_with_its_ingredients():
    assert {layout.name for layout in layouts.LAYOUTS} == set(overcooked_v2_layouts)
    for layout in layouts.LAYOUTS:
        recipes = overcooked_v2_layouts[layout.name].possible_recipes
        assert layout.symmetric == (len({ingredient for recipe in recipes for ingredient in recipe}) > 1)


@pytest.fixture(scope="module")
def kitchen():
    """A challenge in which chefs begin with dishes in their hands, so that random play delivers and presses."""
    return registry.make("overcooked-v2-grounded-coord-simple,kitchen=random,steps=60")


def test_figures_count_what_was_paid_for(kitchen):
    env, lanes = kitchen.env("default"), 64
    step, sample = jax.jit(env.step), jax.jit(env.sample)
    state = jax.jit(env.init)(keys_at(0, lanes))
    dish = state.game.recipe | DynamicObject.PLATE | DynamicObject.COOKED
    agents = state.game.agents
    agents = agents.replace(inventory=agents.inventory.at[0].set(dish))  # the right one, which chance seldom gives
    state = state._replace(game=state.game.replace(agents=agents))
    for number in range(1, 61):
        actions = sample(state, jax.random.uniform(jax.random.key(number), (lanes,)))
        state, paid = step(state, actions, keys_at(number, lanes))
        assert (paid.info["shaping"] >= 0).all()
    assert paid.done.all()
    total, length, figures = env.outcome(state)
    right, wrong, button = (figures[name] for name in ("deliveries", "wrong", "button"))
    assert right.sum() >= 1
    assert wrong.sum() >= 1
    assert button.sum() >= 1
    np.testing.assert_array_equal(total, 20 * right - 20 * wrong - 5 * button)
    assert (length == 60).all()
    again = env.restarted(state)
    assert not env.is_over(again).any()
    assert not again.game.step.any()
    assert not again.total.any()
    np.testing.assert_array_equal(again.game.grid, state.game.grid)


def test_ingredients_trade_places_as_in_jaxmarls_other_play(kitchen):
    env, symmetries = kitchen.env("default"), kitchen.symmetry("op-ing")
    assert symmetries.ingredient_to.tolist() == [[0, 1, 2], [1, 0, 2]]
    state = env.init(jax.random.key(3))
    theirs = jaxmarl.make(
        "overcooked_v2", layout="grounded_coord_simple", agent_view_size=2, op_ingredient_permutations=[0, 1]
    )
    swapped = state.game.replace(ingredient_permutations=jnp.array([[1, 0, 2], [1, 0, 2]]))
    seen = theirs.get_obs(swapped)
    shown = env.observe(state)
    for seat in range(2):
        np.testing.assert_array_equal(symmetries.image(1, shown[seat]), seen[f"agent_{seat}"])
        np.testing.assert_array_equal(symmetries.image(0, shown[seat]), shown[seat])


def test_out_again_it_is_the_environment_of_jaxmarl_to_the_bit():
    ours = make_for_jaxmarl("overcooked-v2-cramped-room,steps=20", flat=False)
    theirs = jaxmarl.make("overcooked_v2", layout="cramped_room", max_steps=20)
    assert isinstance(ours, MultiAgentGame)
    space = ours.observation_space("agent_0")
    assert (space.low, space.high, space.shape) == (0, 255, theirs.observation_space().shape)
    reset, step = jax.jit(theirs.reset), jax.jit(theirs.step)
    ours_step = jax.jit(ours.step)
    seen, state = reset(jax.random.key(0))
    shown, own = ours.reset(jax.random.key(0))
    for number in range(1, 25):  # beyond the end: JaxMARL's own automatic reset begins anew
        draws = jax.random.randint(jax.random.key(number), (2,), 0, 6)
        actions = {f"agent_{seat}": draws[seat] for seat in range(2)}
        jax.tree.map(np.testing.assert_array_equal, shown, jax.tree.map(lambda leaf: leaf.astype(np.float32), seen))
        jax.tree.map(np.testing.assert_array_equal, own.game.game, state)
        seen, state, rewards, dones, infos = step(jax.random.key(number), state, actions)
        shown, own, paid, ended, told = ours_step(jax.random.key(number), own, actions)
        jax.tree.map(np.testing.assert_array_equal, (paid, ended), (rewards, dones))
        jax.tree.map(np.testing.assert_array_equal, told["shaped_reward"], infos["shaped_reward"])


def test_lanes_that_end_are_dealt_anew_and_the_others_go_on():
    env = registry.make("overcooked-v2-cramped-room,steps=5").env("default")
    resetting = AutoReset(env, dealt_at_once=1)
    early = jax.jit(env.init)(keys_at(0))
    begun = stack([lane(early, 0), lane(jax.jit(env.step)(early, jnp.full((LANES, 2), 4), keys_at(1))[0], 1)])
    step = jax.jit(resetting.step)
    for number in range(4):
        begun, paid = step(begun, jnp.full((LANES, 2), 4), keys_at(number))
    assert paid.done.tolist() == [False, True]
    assert begun.length.tolist() == [4, 0]
    assert begun.game.step.tolist() == [4, 0]


def test_a_game_of_jaxmarl_is_made_without_a_word_and_leaves_the_streams_as_they_are():
    code = (
        "import sys, io; from games.batched import registry; sys.stdout = mine = io.StringIO(); "
        "registry.make('overcooked-v2-cramped-room'); print('same', sys.stdout is mine, file=sys.stderr); "
        "print(repr(mine.getvalue()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-2:] == ["same True", "''"]
