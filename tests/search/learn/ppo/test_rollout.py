from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn import masked_categorical
from search.learn.ppo import rollout
from search.learn.ppo.config import PpoConfig
from search.learn.ppo.rollout import Batch, Progress

CORES = ("gru", "rnn", "transformer_xl", "none")
STEPS = 9


def begun(game, network, config):
    """Returns freshly dealt games and a network's parameters."""

    @jax.jit
    def begin(key, seed):
        runner = rollout.begin(game, network, config.environments, key)
        return runner, network.init(seed, jax.tree.map(lambda leaf: leaf[None], rollout.observe(game, runner.games)))

    return begin(jax.random.key(3), jax.random.key(4))


@pytest.fixture(scope="module")
def prepared(recall, small_network, small_config):
    """Returns a function core -> (network, params, compiled collector, runner)."""
    config = small_config(steps=STEPS, discount=0.0)

    @cache
    def prepare(core):
        network = small_network(core)
        runner, params = begun(recall, network, config)
        collect = jax.jit(rollout.collector(lambda _: recall, network, config))
        return network, params, collect, runner

    return prepare


@pytest.fixture(scope="module", params=CORES)
def core(request):
    return request.param


@pytest.fixture(scope="module")
def played(prepared, core):
    """Returns network, parameters, and the second of two rollouts: memories are not empty, games are in progress."""
    network, params, collect, runner = prepared(core)
    runner, _, _ = collect(params, runner, (), Progress(jnp.float32(1)))
    _, batch, episodes = collect(params, runner, (), Progress(jnp.float32(1)))
    return network, params, jax.tree.map(np.asarray, batch), episodes


@pytest.fixture(scope="module")
def replay(played):
    """Returns a function starts -> (log-ratios, values) of the stored steps, read in one go."""
    network, params, batch, _ = played

    @jax.jit
    def read(starts):
        _, outputs = network.apply(params, batch.memory, batch.observation, starts)
        now = masked_categorical.log_probability(outputs.logits, batch.legal, batch.action)
        return now - batch.log_probability, outputs.values

    return read


def test_replayed_rollout_has_ratio_1(played, replay):
    batch = played[2]
    log_ratio, values = replay(batch.starts)
    np.testing.assert_allclose(log_ratio, np.zeros_like(log_ratio), atol=1e-6)
    np.testing.assert_allclose(values, batch.value, atol=1e-6)
    inside = batch.starts[1:]
    assert inside.any(axis=0).all()
    assert not inside.all()
    assert not batch.starts[0].all()
    assert np.abs(batch.log_probability).max() > 0.1


def test_rollout_replayed_with_shifted_starts_has_other_ratios(core, played, replay):
    log_ratio, _ = replay(np.roll(played[2].starts, 1, axis=0))
    assert (np.abs(log_ratio).max() > 1e-3) == (core != "none")


def test_episode_after_a_reset_is_played_as_if_nothing_came_before(played):
    network, params, batch, _ = played
    began = {lane: np.flatnonzero(batch.starts[1:, lane])[0] + 1 for lane in range(batch.starts.shape[1])}
    first = min(began.values())
    lanes = [lane for lane, step in began.items() if step == first]
    starts = batch.starts[first:, lanes]
    starts[0] = False
    empty = network.initial_memory(len(lanes))
    _, outputs = jax.jit(network.apply)(params, empty, batch.observation[first:, lanes], starts)
    np.testing.assert_allclose(outputs.values, batch.value[first:, lanes], atol=1e-6)


def test_memory_of_a_lane_counts_only_while_its_episode_goes_on(prepared):
    _, params, collect, runner = prepared("gru")
    told = runner._replace(memory=runner.memory + 1)
    results = {}
    for starts in (True, False):
        for name, state in (("empty", runner), ("told", told)):
            begun = state._replace(starts=jnp.full_like(state.starts, starts))
            results[starts, name] = collect(params, begun, (), Progress(jnp.float32(1)))[1]
    np.testing.assert_array_equal(results[True, "empty"].value, results[True, "told"].value)
    np.testing.assert_array_equal(results[True, "empty"].action, results[True, "told"].action)
    assert not np.allclose(results[False, "empty"].value[0], results[False, "told"].value[0])


@pytest.mark.parametrize("shaping", [0.0, 0.25])
def test_rewards_shaping_and_finished_games_are_those_of_the_actions(prepared, shaping):
    _, params, collect, runner = prepared("gru")
    ended, batch, episodes = collect(params, runner, (), Progress(jnp.float32(shaping)))
    batch = jax.tree.map(np.asarray, batch)
    shown = batch.observation[:, :, 0, 0, :3]
    symbol = np.zeros(batch.action.shape, int)
    for step in range(STEPS):
        symbol[step] = np.where(batch.starts[step], shown[step].argmax(axis=1), symbol[step - 1])
    right = (batch.action == symbol).reshape(STEPS, -1, 2).sum(axis=2).repeat(2, axis=1)
    wanted = right + shaping * 0.5 * (batch.action != (symbol + 2) % 3)
    # With a discount of 0 the target of the value is what the step paid.
    np.testing.assert_allclose(batch.target, wanted, atol=1e-6)
    finished = np.concatenate([batch.starts[1:], np.asarray(ended.starts)[None]])[:, ::2]
    assert episodes.games == finished.sum() > 0
    lengths = (2 + symbol[:, ::2])[finished]
    assert episodes.length == lengths.sum()
    assert batch.action[symbol == 2].min() == 1


def test_sequences_are_cut_game_by_game_piece_by_piece_player_by_player():
    # Step t of lane l is 10 t + l; game 0 has the lanes 0 and 1, game 1 the lanes 2 and 3.
    lanes = 10.0 * np.arange(6)[:, None] + np.arange(4)
    games = 100 * np.arange(6)[:, None] + np.arange(2)
    batch = Batch(lanes[0], *[lanes] * 8, deciders=games)
    config = PpoConfig(100, environments=2, steps=6, bptt_steps=3)
    found = jax.jit(lambda batch, memory: rollout.cut(batch, memory, config, players=2))(batch, -lanes)
    first = [0, 1, 30, 31, 2, 3, 32, 33]
    assert np.asarray(found.target).tolist() == [[start + step for start in first] for step in (0, 10, 20)]
    assert np.asarray(found.memory).tolist() == [-start for start in first]
    assert np.asarray(found.deciders).tolist() == [
        [0 + step, 300 + step, 1 + step, 301 + step] for step in (0, 100, 200)
    ]


def test_pieces_are_read_from_the_memories_that_they_were_played_with(recall, small_network, small_config):
    network, config = small_network("lstm"), small_config(steps=STEPS, bptt_steps=3)
    runner, params = begun(recall, network, config)
    _, batch, _ = jax.jit(rollout.collector(lambda _: recall, network, config))(
        params, runner, (), Progress(jnp.ones(()))
    )
    assert batch.action.shape == (3, 3 * 16)
    assert not batch.starts[0].all(), "some pieces begin within a game"

    @jax.jit
    def read(batch):
        _, outputs = network.apply(params, batch.memory, batch.observation, batch.starts)
        return masked_categorical.log_probability(outputs.logits, batch.legal, batch.action)

    np.testing.assert_allclose(read(batch), batch.log_probability, atol=1e-6)
