"""What must hold in every batched game, beyond agreeing with the reference."""

import subprocess
import sys
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.api import GameError
from games.batched.api import concatenate, lane, stack
from games.batched.wrappers import AutoReset
from games.batched.yokai.environment import make
from games.yokai.game import make as make_reference
from games.yokai.grid import grid

LANES = 64


def deals(env, lanes=LANES, seed=0):
    return jax.jit(env.init)(jax.random.split(jax.random.key(seed), lanes))


def host(tree):
    return jax.tree.map(np.asarray, tree)


@pytest.fixture(scope="module")
def rollout():
    """States, actions and transitions of 64 games of nine cards that nobody ends, to the end."""
    env = make("yokai-9c-2p")
    step = jax.jit(env.step)
    sample = jax.jit(env.sample)
    state, states, actions, transitions = deals(env), [], [], []
    for number in range(32):
        drawn = np.asarray(sample(state, jax.random.uniform(jax.random.key(number), (LANES,))))
        states.append(host(state))
        redrawn = np.where(drawn == env.num_actions - 1, 1 + np.argmin(states[-1].locked, axis=0)[:, None], drawn)
        actions.append(redrawn.astype(np.int32))
        state, transition = step(state, actions[-1])
        transitions.append(host(transition))
    states.append(host(state))
    return env, step, states, actions, transitions


def test_a_game_that_nobody_ends_has_exactly_eight_actions_a_hint(rollout):
    _, _, states, _, transitions = rollout
    assert not any(transition.done.any() for transition in transitions[:-1])
    assert transitions[-1].done.all()
    assert (states[-1].length == 32).all()


def test_connectivity_is_never_lost(rollout):
    side = grid(9)
    for state in rollout[2]:
        for cells in state.cells.T:
            words = [side.bits[cell // 9][cell % 9] for cell in cells]
            assert len(set(words)) == 9
            assert side.is_connected(sum(words))


def test_a_locked_card_never_moves_and_stays_locked(rollout):
    states = rollout[2]
    for before, after in pairwise(states):
        assert (after.locked >= before.locked).all()
        assert (after.cells == before.cells)[before.locked].all()


def test_after_a_move_there_is_always_a_hint_to_use(rollout):
    for state in rollout[2]:
        assert (state.legal.any(axis=(0, 1)) | (state.sub_step != 4)).all()


def test_a_finished_game_stays_as_it_is_and_pays_nothing(rollout):
    env, step, states, _, _ = rollout
    over = states[-1]
    after, transition = step(over, np.zeros((LANES, 2), np.int32))
    assert all((np.asarray(a) == b).all() for a, b in zip(after, states[-1], strict=True))
    assert not transition.reward.any()
    assert not transition.info["illegal"].any()
    mask = np.asarray(jax.jit(env.legal_mask)(over))
    assert mask[:, :, 0].all()
    assert mask.sum() == 2 * LANES


def test_illegal_actions_become_the_lowest_legal_one_and_are_reported(rollout):
    env, step, states, _, _ = rollout
    show_mask = jax.jit(env.legal_mask)
    for state in states[:-1:5]:
        mask = np.asarray(show_mask(state))
        lowest = mask.argmax(axis=2)
        for index in (0, -1, env.num_actions, 400, 900, 1060):
            actions = np.full((LANES, 2), index, np.int32)
            legal = np.take_along_axis(mask, np.clip(actions, 0, env.num_actions - 1)[:, :, None], axis=2)[:, :, 0]
            legal &= (actions >= 0) & (actions < env.num_actions)
            got, transition = step(state, actions)
            np.testing.assert_array_equal(transition.info["illegal"], ~legal)
            expected, _ = step(state, np.where(legal, actions, lowest).astype(np.int32))
            jax.tree.map(np.testing.assert_array_equal, got, expected)


def test_sampling_draws_every_legal_action_equally_often(rollout):
    env, _, states, _, _ = rollout
    sample, show_mask = jax.jit(env.sample), jax.jit(env.legal_mask)
    for before in (states[0], states[2], states[7]):
        state = jax.tree.map(lambda array: np.repeat(array[..., :1], 6_000, axis=-1), before)
        mask = np.asarray(show_mask(state))[0]
        player = int(before.player[0])
        legal = np.flatnonzero(mask[player])
        grid_points = (np.arange(6_000) + 0.5) / 6_000
        drawn = np.asarray(sample(state, jnp.asarray(grid_points, jnp.float32)))
        counts = np.bincount(drawn[:, player], minlength=env.num_actions)
        assert set(np.flatnonzero(counts)) == set(legal)
        assert abs(counts[legal] - 6_000 / len(legal)).max() <= 1
        assert not drawn[:, 1 - player].any()


@pytest.mark.parametrize("memory", [False, True])
def test_no_observation_changes_when_what_its_player_cannot_know_is_swapped(rollout, memory):
    states = rollout[2]
    env = make("yokai-9c-2p", memory)
    observe = jax.jit(lambda state: (env.observe(state), env.observe_graph(state).nodes, env.legal_mask(state)))
    swaps = 0
    for before in states[::2]:
        for player in range(2):
            known = before.observed[player] if memory else before.seen & (before.player == player)
            swapped = before.colours.copy()
            for column in range(LANES):
                hidden = np.flatnonzero(~known[:, column])
                swapped[hidden, column] = np.roll(swapped[hidden, column], 1)
            face_down = before.status == 0
            hints = np.where(face_down, 7 - before.hints, before.hints)
            other = before._replace(colours=swapped, hints=hints)
            for shown, shown_then in zip(observe(before), observe(other), strict=True):
                np.testing.assert_array_equal(shown[:, player], shown_then[:, player])
            swaps += (swapped != before.colours).any(axis=0).sum()
    assert swaps > LANES * len(states) / 2


def test_with_jit_lane_by_lane_and_in_any_split_the_same_comes_out(rollout):
    env, step, states, actions, transitions = rollout
    mapped = jax.jit(jax.vmap(env.step, in_axes=(-1, 0), out_axes=(-1, 0)))
    show = jax.jit(lambda state: (env.observe(state), env.legal_mask(state)))
    joined, stacked = jax.jit(concatenate), jax.jit(stack)
    for number in (0, 2, 3, 31):
        state, played, after = states[number], actions[number], states[number + 1]
        parts = slice(0, LANES, 2), slice(1, LANES, 2)
        split = joined([step(jax.tree.map(lambda a, s=s: a[..., s], state), played[s])[0] for s in parts])
        split = jax.tree.map(
            lambda a: np.asarray(a).reshape(*a.shape[:-1], 2, -1).swapaxes(-1, -2).reshape(a.shape), split
        )
        jax.tree.map(np.testing.assert_array_equal, split, after)
        jax.tree.map(np.testing.assert_array_equal, mapped(state, played)[0], after)
        alone, paid = host(step(lane(state, 5), played[5]))
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[..., 5]), alone, after)
        np.testing.assert_array_equal(paid.reward, transitions[number].reward[5])
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[5]), show(alone), host(show(after)))
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[0]), show(alone), host(show(stacked([alone]))))


@pytest.mark.slow
def test_without_jit_the_same_comes_out(rollout):
    env, _, states, actions, transitions = rollout
    observe = jax.jit(env.observe)
    for number in (2, 31):
        state = jax.tree.map(lambda array: jnp.asarray(array[..., :3]), states[number])
        with jax.disable_jit():
            plain, paid = env.step(state, jnp.asarray(actions[number][:3]))
            shown = env.observe(plain)
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[..., :3]), plain, states[number + 1])
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[:3]), paid, transitions[number])
        np.testing.assert_array_equal(shown, observe(plain))


def test_no_step_is_compiled_twice():
    env = make("yokai-9c-2p")
    wrapped = AutoReset(env)
    traces = []

    def step(state, uniform, keys):
        traces.append(1)
        return wrapped.step(state, env.sample(state, uniform), keys)

    compiled = jax.jit(step)
    state, resets = deals(env, 8), 0
    for number in range(40):
        keys = jax.random.split(jax.random.key(number), 8)
        state, transition = compiled(state, jnp.full(8, number / 40, jnp.float32), keys)
        resets += int(transition.done.sum())
    assert len(traces) == 1
    assert resets > 0


def test_no_number_of_a_whole_game_is_nan_or_infinite(rollout):
    env, _, states, _, transitions = rollout
    show = jax.jit(lambda state: (env.observe(state), env.observe_graph(state), env.outcome(state)))
    for state in states:
        assert all(np.isfinite(array).all() for array in jax.tree.leaves(show(state)))
    for transition in transitions:
        assert np.isfinite(transition.reward).all()
        assert np.isfinite(transition.info["shaping"]).all()


def test_images_have_the_shape_that_is_told(rollout):
    env, _, states, _, _ = rollout
    image = np.asarray(jax.jit(env.observe)(states[9]))
    assert image.shape == (LANES, 2, *env.image_shape)
    assert image.dtype == np.float32


def test_deals_follow_the_probabilities_of_the_reference():
    env = make("yokai-16c-3p")
    state = host(deals(env, 20_000))
    counts = [(state.colours == colour).sum(axis=0) for colour in range(4)]
    assert all((count == 4).all() for count in counts)
    first = np.bincount(state.colours[0], minlength=4) / 20_000
    assert abs(first - 1 / 4).max() < 0.015
    same = (state.colours[0] == state.colours[15]).mean()
    assert abs(same - 3 / 15) < 0.015
    sizes = np.array([int(mask).bit_count() for mask in range(16)])[state.hints]
    assert [(sizes == size).sum(axis=0).tolist() == [count] * 20_000 for size, count in ((1, 2), (2, 4), (3, 3))]
    assert all(len(set(column)) == 9 for column in state.hints.T[:500])
    outcomes = make_reference(16, 3).rules._hint_outcomes([])
    index = {"red": 1, "green": 2, "blue": 4, "yellow": 8}
    for action, probability in outcomes:
        mask = sum(index[word] for word in action.removeprefix("hint ").split("-"))
        assert abs((state.hints[0] == mask).mean() - probability) < 0.012


def test_deals_of_eight_cards_are_uniform_over_the_70_assignments_and_the_6_orders_of_the_hints():
    state = host(deals(make("yokai-8c-2p"), 21_000))
    for rows, ways in ((state.colours, 70), (state.hints, 6)):
        counts = np.unique(rows.T, axis=0, return_counts=True)[1]
        assert len(counts) == ways
        expected = 21_000 / ways
        assert ((counts - expected) ** 2 / expected).sum() < ways + 5 * (2 * ways) ** 0.5


def test_state_holds_arrays_alone_and_no_key():
    state = jax.eval_shape(make("yokai-9c-2p").init, jax.random.key(0))
    assert all(array.dtype in (jnp.int32, jnp.uint32, jnp.bool_) for array in state)


def test_sixteen_cards_leave_two_thousand_three_hundred_and_twenty_five_actions():
    assert make("yokai-9c-2p").num_actions == 1068
    assert make("yokai-16c-2p").num_actions == 2325


def test_eight_cards_leave_552_actions_and_a_small_image():
    env = make("yokai-8c-2p")
    assert (env.num_actions, env.image_shape) == (552, (7, 8, 11))


def test_an_unknown_id_is_refused_with_the_known_ones():
    with pytest.raises(GameError, match="yokai-9c-2p"):
        make("yokai-12c-2p")


def test_the_registry_does_not_import_jax():
    code = "import sys, games.registry, games.yokai.game, arena.cli; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
