"""JaxMARL's interface and its own wrappers, where JaxMARL is installed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("jaxmarl", reason="the extra `jaxmarl` is not installed")

from jaxmarl.environments.multi_agent_env import MultiAgentEnv, State
from jaxmarl.wrappers.baselines import CTRolloutManager, LogWrapper

from games.api import GameError
from games.batched.jaxmarl import make
from games.batched.yokai.environment import make as make_batched

pytestmark = pytest.mark.extra("jaxmarl")

GAMES = 16


@pytest.fixture(scope="module")
def env():
    return make("yokai-9c-2p")


def keys_at(number, games=GAMES):
    return jax.random.split(jax.random.PRNGKey(number), games)


def draw(key, avail):
    """Uniformly random legal actions by agent."""
    keys = dict(zip(avail, jax.random.split(key, len(avail)), strict=True))
    return {agent: jax.random.categorical(keys[agent], jnp.where(mask, 0.0, -jnp.inf)) for agent, mask in avail.items()}


def test_it_is_a_jaxmarl_environment_with_spaces_by_agent(env):
    assert isinstance(env, MultiAgentEnv)
    assert env.name == "yokai-9c-2p"
    assert env.agents == ["agent_0", "agent_1"]
    assert env.agent_classes == {"players": ["agent_0", "agent_1"]}
    obs, state = env.reset(jax.random.PRNGKey(0))
    assert isinstance(state, State)
    assert not state.done
    assert state.step == 0
    for agent in env.agents:
        assert env.action_space(agent).n == 1068
        assert env.observation_space(agent).shape == obs[agent].shape == (9 * 10 * 13,)
        assert env.observation_space(agent).contains(obs[agent])
    assert make("yokai-9c-2p", flat=False).observation_space("agent_0").shape == (9, 10, 13)


@pytest.mark.parametrize("options", [{}, {"memory": True, "flat": False}, {"other_play": True}], ids=str)
def test_step_env_is_the_batched_step_by_agent(options):
    env = make("yokai-9c-3p", **options)
    step, observe, mask = (jax.jit(f) for f in (env.env.step, env.env.observe, env.env.legal_mask))
    _, state = env.reset(jax.random.key(1))
    for number in range(60):
        avail = env.get_avail_actions(state)
        actions = draw(jax.random.key(number), avail)
        np.testing.assert_array_equal(jnp.stack(list(avail.values())), mask(state.game))
        obs, after, rewards, dones, infos = env.step_env(jax.random.key(0), state, actions)
        game, paid = step(state.game, jnp.stack(list(actions.values())), jax.random.key(0))
        jax.tree.map(np.testing.assert_array_equal, after.game, game)
        seen = jnp.stack(list(obs.values()))
        np.testing.assert_array_equal(seen, observe(game).reshape(seen.shape))
        np.testing.assert_array_equal(jnp.stack(list(rewards.values())), paid.reward)
        np.testing.assert_array_equal(jnp.stack(list(infos["shaped_reward"].values())), paid.info["shaping"])
        assert set(dones) == {*env.agents, "__all__"}
        assert all(bool(done) == bool(paid.done) for done in dones.values())
        assert set(infos) == {"shaped_reward", "illegal", "won", "ended_early", "won_early", "score", "score_if_won"}
        assert all(infos[name].shape == (3,) for name in infos if name != "shaped_reward")
        assert after.step == number + 1
        assert not infos["illegal"].any()
        state = after
        if dones["__all__"]:
            break
    assert state.done


def test_only_who_is_to_move_has_a_choice(env):
    _, state = env.reset(jax.random.PRNGKey(3))
    avail = env.get_avail_actions(state)
    assert np.flatnonzero(avail["agent_1"]).tolist() == [0]
    assert np.flatnonzero(avail["agent_0"]).tolist() == [*range(1, 10), 1067]


def test_step_deals_the_next_game_and_a_given_state_takes_its_place(env):
    _, state = env.reset(jax.random.PRNGKey(4))
    _, given = env.reset(jax.random.PRNGKey(99))
    end = {"agent_0": jnp.int32(1067), "agent_1": jnp.int32(0)}
    obs, after, rewards, dones, infos = env.step(jax.random.PRNGKey(5), state, end)
    fresh_obs, fresh = env.reset(jax.random.split(jax.random.PRNGKey(5))[1])
    jax.tree.map(np.testing.assert_array_equal, (obs, after), (fresh_obs, fresh))
    assert dones["__all__"]
    assert infos["ended_early"].all()
    assert (float(rewards["agent_0"]) > 0) == bool(infos["won"][0])
    _, after, *_ = env.step(jax.random.PRNGKey(5), state, end, given)
    jax.tree.map(np.testing.assert_array_equal, after, given)


def test_without_the_automatic_reset_a_finished_game_stays_as_it_is(env):
    _, state = env.reset(jax.random.PRNGKey(4))
    end = {"agent_0": jnp.int32(1067), "agent_1": jnp.int32(0)}
    _, ended, *_ = env.step_env(jax.random.PRNGKey(5), state, end)
    assert ended.done
    _, after, rewards, dones, _ = env.step_env(jax.random.PRNGKey(5), ended, end)
    jax.tree.map(np.testing.assert_array_equal, after, ended)
    assert dones["__all__"]
    assert not any(rewards.values())


def test_raw_and_typed_keys_deal_the_same_game(env):
    raw, typed = (env.reset(make_key(7))[1] for make_key in (jax.random.PRNGKey, jax.random.key))
    jax.tree.map(np.testing.assert_array_equal, raw, typed)


def test_many_games_at_once_are_the_lanes_of_the_batched_environment(env):
    _, states = jax.vmap(env.reset)(keys_at(1))
    lanes = make_batched("yokai-9c-2p").init(jax.random.wrap_key_data(keys_at(1)))
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(jnp.moveaxis(a, 0, -1), b), states.game, lanes)


def test_jaxmarls_log_wrapper_sums_returns_and_lengths(env):
    logged = LogWrapper(env)
    step, avail = jax.jit(jax.vmap(logged.step)), jax.jit(jax.vmap(env.get_avail_actions))
    choose = jax.jit(jax.vmap(draw))
    _, state = jax.vmap(logged.reset)(keys_at(2))
    returns, lengths, finished = np.zeros(GAMES), np.zeros(GAMES), 0
    for number in range(80):
        actions = choose(keys_at(number + 100), avail(state.env_state))
        _, state, rewards, dones, infos = step(keys_at(number + 500), state, actions)
        paid = np.asarray(rewards["agent_0"])
        returns, lengths = returns + paid, lengths + 1
        done = np.asarray(dones["__all__"])
        np.testing.assert_array_equal(infos["returned_episode"], np.stack([done, done], axis=1))
        np.testing.assert_array_equal(infos["returned_episode_returns"][done, 0], returns[done])
        np.testing.assert_array_equal(infos["returned_episode_lengths"][done, 1], lengths[done])
        won = np.asarray(infos["won"][:, 0])
        np.testing.assert_array_equal(infos["score_if_won"][:, 0], np.where(won, paid, 0))
        assert (paid[done & ~won] < 0).all()
        returns[done], lengths[done] = 0, 0
        finished += done.sum()
    assert finished > GAMES


def test_jaxmarls_rollout_manager_runs_with_the_legal_actions_set_as_documented(env):
    manager = CTRolloutManager(env, batch_size=GAMES)
    manager.get_valid_actions = jax.vmap(env.get_avail_actions)
    manager.global_reward = lambda rewards: rewards[env.agents[0]]
    obs, state = manager.batch_reset(jax.random.PRNGKey(0))
    assert obs["agent_0"].shape == (GAMES, 9 * 10 * 13 + 2)
    assert obs["__all__"].shape == (GAMES, 2 * 9 * 10 * 13)
    ended = 0
    for number in range(40):
        valid = manager.get_valid_actions(state)
        actions = jax.vmap(draw)(keys_at(number), valid)
        obs, state, rewards, dones, infos = manager.batch_step(jax.random.PRNGKey(number), state, actions)
        assert not infos["illegal"].any()
        np.testing.assert_array_equal(rewards["__all__"], rewards["agent_1"])
        done = np.asarray(dones["__all__"])
        assert not np.asarray(obs["agent_0"])[done].any()
        ended += done.sum()
    assert ended > 0
    assert manager.batch_sample(jax.random.PRNGKey(0), "agent_0").shape == (GAMES,)


def test_an_unknown_id_is_refused_with_the_known_ones():
    with pytest.raises(GameError, match="yokai-9c-2p"):
        make("hanabi")
