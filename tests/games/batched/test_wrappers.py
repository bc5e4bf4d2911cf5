import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.batched.wrappers import AutoReset, add_episodes, metrics, no_episodes
from games.batched.yokai.environment import make
from games.batched.yokai.game import MEANS

LANES = 32


@pytest.fixture(scope="module")
def env():
    return make("yokai-9c-2p")


def keys_at(number, lanes=LANES):
    return jax.random.split(jax.random.fold_in(jax.random.key(3), number), lanes)


def play(env, dealt_at_once, lanes, steps=40):
    """Returns the states and transitions of random games, the same whatever part of the lanes is played."""
    wrapped = AutoReset(env, dealt_at_once)
    step = jax.jit(lambda state, uniform, keys: wrapped.step(state, env.sample(state, uniform), keys))
    state = jax.jit(wrapped.init)(keys_at(0)[lanes])
    states, transitions = [], []
    for number in range(1, steps):
        uniform = np.asarray(jax.random.uniform(jax.random.key(number), (LANES,)))[lanes]
        state, transition = step(state, uniform, keys_at(number)[lanes])
        states.append(jax.tree.map(np.asarray, state))
        transitions.append(jax.tree.map(np.asarray, transition))
    return states, transitions


@pytest.fixture(scope="module")
def played(env):
    return play(env, 4, slice(None))


@pytest.mark.parametrize("dealt_at_once", [None, pytest.param(64, marks=pytest.mark.slow)])
def test_how_many_are_dealt_at_once_changes_nothing(env, played, dealt_at_once):
    states, _ = play(env, dealt_at_once, slice(None))
    jax.tree.map(np.testing.assert_array_equal, states, played[0])


def test_lanes_do_not_depend_on_the_batch_around_them(env, played):
    states, _ = play(env, 4, slice(8, 16))
    for part, whole in zip(states, played[0], strict=True):
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[..., 8:16]), part, whole)


def test_a_fresh_independent_game_follows_and_the_final_observation_is_kept(env, played):
    ended = 0
    for state, transition in zip(*played, strict=True):
        for index in np.flatnonzero(transition.done):
            ended += 1
            assert state.length[index] == 0
            assert state.sub_step[index] == 1
            assert not state.observed[..., index].any()
            turn_channels = transition.final_observation[index][..., 9:11]
            assert not turn_channels.any()
    assert ended > LANES
    deals = {tuple(state.colours[:, i]) for state, t in zip(*played, strict=True) for i in np.flatnonzero(t.done)}
    assert len(deals) > 0.9 * ended


def test_rewards_come_with_the_end_alone_and_equal_the_return(played):
    for transition in played[1]:
        np.testing.assert_array_equal(transition.reward[:, 0], transition.reward[:, 1])
        expected = np.where(transition.done, transition.outcome.total, 0)
        np.testing.assert_array_equal(transition.reward[:, 0], expected)


def test_metrics_are_the_means_over_finished_games(env, played):
    episodes = no_episodes(env)
    add = jax.jit(add_episodes)
    rows = []
    for transition in played[1]:
        episodes = add(episodes, transition.done, transition.outcome)
        outcome = transition.outcome
        figures = [outcome.figures[name] for name in ("won", "ended_early", "score")]
        rows += [[f[i] for f in (*figures, outcome.total, outcome.length)] for i in np.flatnonzero(transition.done)]
    won, early, score, total, length = (np.array(column, float) for column in zip(*rows, strict=True))
    found = metrics(episodes, MEANS)
    assert found["episodes"] == len(rows)
    assert found["R"] == pytest.approx((score * won).mean())
    assert found["return"] == pytest.approx(total.mean())
    assert found["EE"] == pytest.approx(early.mean())
    assert found["SEE"] == pytest.approx((early * won).mean())
    assert found["WEE"] == pytest.approx((early * won).sum() / early.sum())
    assert found["LEN"] == pytest.approx(length.mean())
    assert found["win_rate"] == pytest.approx(won.mean())


def ended_at_once(env):
    """Returns what 20,000 games come to whose first player ends them before anything else."""

    @jax.jit
    def play(keys):
        state = env.init(keys)
        actions = jnp.zeros((20_000, env.num_players), jnp.int32).at[:, 0].set(env.num_actions - 1)
        after, transition = env.step(state, actions)
        return add_episodes(no_episodes(env), transition.done, env.outcome(after))

    return metrics(play(jax.random.split(jax.random.key(1), 20_000)), MEANS)


def test_ending_at_once_with_three_players_gives_the_papers_figure():
    env = make("yokai-9c-3p")
    found = ended_at_once(env)
    assert found["R"] == pytest.approx(60 / 1680 * 25, abs=0.1)
    assert found["return"] == pytest.approx(-2.3, abs=0.1)
    assert found["LEN"] == 1


def test_ending_at_once_with_eight_cards_wins_8_of_70_games():
    env = make("yokai-8c-2p")
    found = ended_at_once(env)
    assert found["R"] == pytest.approx(8 / 70 * 15, abs=0.1)
    assert found["return"] == pytest.approx((8 * 15 - 62 * 3) / 70, abs=0.1)


def test_no_game_has_no_metrics(env):
    found = metrics(no_episodes(env), MEANS)
    assert found["WEE"] is None
    assert found["R"] is None
