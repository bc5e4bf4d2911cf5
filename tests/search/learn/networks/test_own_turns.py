"""A memory of own decisions alone: as that of an agent at a table, which is shown nothing else."""

import pytest

jax = pytest.importorskip("jax", reason="the extra `learn` is not installed")

import numpy as np  # noqa: E402

from search.learn.networks.actor_critic import ActorCritic  # noqa: E402
from search.learn.networks.config import NetworkConfig  # noqa: E402
from search.learn.networks.own_turns import OwnTurns  # noqa: E402

T, W = 7, 3
MOVES = np.array([[0, 1], [1, 0], [0, 0], [1, 1], [0, 1], [1, 0], [1, 1]], bool)
STARTS = np.array([[1, 1], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [0, 0]], bool)


@pytest.fixture(scope="module")
def network():
    return OwnTurns(ActorCritic(NetworkConfig("mlp", "gru", hidden=4, filters=4, layers=1, head_scale=1.0), 2, rank=1))


@pytest.fixture(scope="module")
def played(network):
    seen = np.random.default_rng(0).normal(size=(T, 2, 1, 1, W)).astype(np.float32)
    images = np.concatenate([seen, MOVES[..., None, None, None]], axis=-1).astype(np.float32)
    params = jax.jit(network.init)(jax.random.key(0), images)
    return params, images, seen[:, :, 0, 0]


def test_outputs_at_own_turns_are_those_of_who_saw_nothing_else(network, played):
    params, images, seen = played
    memory, outputs = jax.jit(network.apply)(params, network.initial_memory(2), images, STARTS)
    alone = jax.jit(network.network.apply)
    for lane in range(2):
        own = network.initial_memory(1)
        began = False
        for now in range(T):
            began = began or STARTS[now, lane]
            if MOVES[now, lane]:
                own, said = alone(params, own, seen[now, lane][None, None], np.array([[began]]))
                began = False
                np.testing.assert_allclose(outputs.logits[now, lane], said.logits[0, 0], atol=1e-6)
                np.testing.assert_allclose(outputs.values[now, lane], said.values[0, 0], atol=1e-6)
        np.testing.assert_allclose(memory[lane], own[0], atol=1e-6)


def test_one_step_after_the_other_comes_to_what_all_at_once_do(network, played):
    params, images, _ = played
    at_once, outputs = jax.jit(network.apply)(params, network.initial_memory(2), images, STARTS)
    memory, single = network.initial_memory(2), jax.jit(network.apply)
    for now in range(T):
        memory, said = single(params, memory, images[now : now + 1], STARTS[now : now + 1])
        np.testing.assert_allclose(outputs.values[now], said.values[0], atol=1e-6)
    np.testing.assert_allclose(at_once, memory, atol=1e-6)
    assert not np.allclose(outputs.values[2], outputs.values[1])
