"""AlphaZero on a twin: it learns a game that the second player wins by doing as the first did."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cwm.twins.form import ArrayForm, TwinForm

mctx = pytest.importorskip("mctx", reason="the extra `learn` is not installed")

from arena.training_on_twins.zero import Searched, ZeroLearner, ZeroTask  # noqa: E402

pytestmark = pytest.mark.extra("learn")
OVER = -4
TASK = ZeroTask(1000, 16, 4, 4, simulations=4, hidden=16, layers=1, opening=1, learning_rate=0.01)


def init():
    return (jnp.int32(0), jnp.zeros(2, jnp.int32))


def step(turn, done, index):
    return jnp.where(turn == 0, 1, OVER).astype(jnp.int32), done.at[jnp.clip(turn, 0, 1)].set(index)


def look(turn, done):
    won = jnp.where(turn == OVER, jnp.where(done[0] == done[1], -1.0, 1.0), 0.0)
    seen = jnp.append(jax.nn.one_hot(done[0], 3), turn).astype(jnp.float32)
    return turn, jnp.broadcast_to(turn >= 0, (3,)), jnp.zeros(0), jnp.stack([won, -won]), jnp.stack([seen, seen])


@pytest.fixture(scope="module")
def learner():
    form = TwinForm((ArrayForm("turn", "int32", ()), ArrayForm("done", "int32", (2,))), ("a", "b", "c"), (), 2, 4)
    return ZeroLearner(form, {"init": init, "step": step, "look": look}, TASK)


def test_the_model_of_a_search_is_the_twin_and_stands_still_at_the_end(learner):
    params = learner.begin(np.uint32(0), np.int32(0), ()).learner.params
    turns = (jnp.array([0, 1, 1, OVER], jnp.int32), jnp.array([[0, 0], [2, 0], [2, 0], [1, 1]], jnp.int32))
    found, after = learner._followed(params, None, jnp.array([2, 2, 1, 0]), turns)
    assert after[0].tolist() == [1, OVER, OVER, OVER]
    assert after[1].tolist() == [[2, 0], [2, 2], [2, 1], [1, 1]]
    # The second player wins by doing the same; what is won is told once, to who moved.
    assert found.reward.tolist() == [0, 1, -1, 0]
    assert found.discount.tolist() == [-1, 0, 0, 0]
    assert found.value[1:].tolist() == [0, 0, 0]


def test_what_a_game_came_to_is_told_to_each_player_in_his_own_terms(learner):
    params = learner.begin(np.uint32(0), np.int32(0), ()).learner.params
    rows = {name: jnp.zeros((3, 1)) for name in Searched._fields}
    rows |= {"reward": jnp.array([[0.0], [1.0], [0.0]]), "onward": jnp.array([[-1.0], [0.0], [-1.0]])}
    games = jnp.array([1], jnp.int32), jnp.zeros((1, 2), jnp.int32)
    targets = learner._targets(params, games, Searched(**rows))
    expected = learner._asked(params, learner._look(games).observations[:, 1])[1]
    assert targets[:, 0].tolist() == [-1.0, 1.0, -float(expected[0])]


@pytest.mark.slow
def test_the_second_player_learns_to_win(learner):
    state = learner.begin(np.uint32(0), np.int32(0), ())
    for _ in range(60):
        state, came = learner.update(state, ())
    # Half of the lanes' games begin with a random action, and all end after two.
    assert int(came.ended.games) == TASK.environments * TASK.horizon // 2
    won = learner.evaluate(state.learner.params, np.int32(1), 200, jax.random.key(0))
    assert (int(won.games), int(won.wins)) == (208, 208)
