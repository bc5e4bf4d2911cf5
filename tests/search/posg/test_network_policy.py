"""Networks that planners run by NumPy say what the same networks say in JAX."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.posg.api import PosgError
from search.api import PlannerConfigError
from search.learn import checkpoint
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig
from search.posg.network_policy import NetworkPolicy, read_arrays

ACTIONS = ("stay", "left", "right")
STEPS, PLACES = 7, 4
ON_PLACES = ((0, 3), (-1, 4), (0, 2), (0, 5))
BOUNDS = ([-1.0] * PLACES, [5.0] * PLACES)


def encode(agent: int, observation: Sequence[float]) -> Sequence[float]:
    return observation


def policy_of(arrays: dict[str, Any], config: NetworkConfig, agents: Sequence[int] | None = None) -> NetworkPolicy:
    return NetworkPolicy(arrays, json.loads(json.dumps(config.to_json())), encode, [ACTIONS] * 2, BOUNDS, agents)


def drawn(config: NetworkConfig, seed: int) -> tuple[ActorCritic, Any, np.ndarray[Any, Any]]:
    """Returns a network, parameters of which none is zero, and observations [T, 1, 1, 1, n], all drawn."""
    rng = np.random.default_rng(seed)
    lowest, counts = np.array(ON_PLACES).T
    seen = lowest + rng.integers(0, counts, size=(STEPS, 1, 1, 1, PLACES))
    if not config.values_of:
        seen = rng.normal(size=seen.shape)
    network = ActorCritic(config, len(ACTIONS))
    shapes = jax.eval_shape(network.init, jax.random.key(0), seen.astype(np.float32))
    params = jax.tree.map(lambda leaf: (0.7 * rng.normal(size=leaf.shape)).astype(np.float32), shapes)
    return network, params, seen.astype(np.float32)


@pytest.mark.parametrize(
    "changes",
    [
        {"trunk": (9, 8), "head_widths": (7,), "values_of": ON_PLACES, "activation": "tanh"},
        {"trunk": (9, 6), "hidden": 12, "activation": "relu"},
        {"filters": 5, "layers": 2, "head_widths": (7, 5), "activation": "tanh"},
        {"core": "none", "trunk": (8,), "head_widths": (4,)},
    ],
)
def test_a_network_says_in_numpy_what_it_says_in_jax(changes: dict[str, Any], tmp_path: Path) -> None:
    config = NetworkConfig(**{"encoder": "mlp", "core": "lstm", "hidden": 8, **changes})
    for seed in range(3):
        network, params, seen = drawn(config, seed)
        starts = jnp.zeros((STEPS, 1), bool)
        _, expected = network.apply(params, network.initial_memory(1), seen, starts)
        checkpoint.save_policy(tmp_path, params, {})
        policy = policy_of(read_arrays(tmp_path / checkpoint.POLICY), config)
        memory = policy.start(1)
        for step in range(STEPS):
            memory = policy.update(memory, None if step == 0 else "stay", seen[step].ravel().tolist())
            chances = jax.nn.softmax(expected.logits[step, 0])
            np.testing.assert_allclose(policy.probabilities(memory, ACTIONS), chances, atol=1e-5)
            assert policy.value(memory) == pytest.approx(float(expected.values[step, 0]), abs=1e-5)
        two = np.asarray(chances)[[0, 2]]
        np.testing.assert_allclose(policy.probabilities(memory, ("stay", "right")), two / two.sum(), atol=1e-5)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[NetworkConfig, dict[str, Any]]:
    config = NetworkConfig("mlp", "lstm", 8, trunk=(8,), values_of=ON_PLACES)
    folder = tmp_path_factory.mktemp("small")
    checkpoint.save_policy(folder, drawn(config, 5)[1], {})
    return config, read_arrays(folder / checkpoint.POLICY)


def test_memories_are_never_changed(small: tuple[NetworkConfig, dict[str, Any]]) -> None:
    policy = policy_of(small[1], small[0])
    first = policy.update(policy.start(0), None, [0, 0, 0, 0])
    before = policy.probabilities(first, ACTIONS)
    for observation in ([1, 1, 1, 1], [2, 2, 0, 4]):
        policy.update(first, "stay", observation)
    assert policy.probabilities(first, ACTIONS) == before
    assert policy.probabilities(policy.update(policy.start(0), None, [0, 0, 0, 0]), ACTIONS) == before


def test_actions_are_drawn_by_their_probabilities(small: tuple[NetworkConfig, dict[str, Any]]) -> None:
    policy = policy_of(small[1], small[0])
    memory, rng = policy.update(policy.start(0), None, [0, 0, 0, 0]), random.Random(0)
    played = [policy.act(memory, rng) for _ in range(2000)]
    shares = [played.count(action) / 2000 for action in ACTIONS]
    np.testing.assert_allclose(shares, policy.probabilities(memory, ACTIONS), atol=0.04)


def test_a_network_plays_the_agents_that_it_was_trained_for_alone(small: tuple[NetworkConfig, dict[str, Any]]) -> None:
    policy = policy_of(small[1], small[0], agents=(1,))
    with pytest.raises(PosgError, match="the network was trained for agent 1, not for agent 0"):
        policy.start(0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"encoder": "cnn"}, "planners run networks with encoder 'mlp' alone, and this one has 'cnn'"),
        ({"core": "gru"}, "planners run networks whose memory is lstm or none, and this one's is 'gru'"),
        ({"hidden": 9}, "the arrays of a network are not those of its settings"),
        ({"trunk": [8, 8]}, r"the arrays of a network are not those of its settings \('encoder/linear_1/kernel'\)"),
        ({"trunk": 5}, "the arrays of a network are not those of its settings"),
        ({"trunk": [], "layers": 10**10}, "layers is 10000000000, expected a whole number from 0 to 65536"),
        ({"hidden": 10**9}, "hidden is 1000000000, expected a whole number from 1 to 65536"),
        ({"values_of": [[0, 14]]}, "values_of tells of 1 places, the game's vectors have 4"),
        ({"values_of": [[0, 2]] * 4}, r"encoder/linear_0/kernel is \[14, 8\], expected \[8, 8\]"),
        ({"values_of": []}, r"encoder/linear_0/kernel is \[14, 8\], expected \[4, 8\]"),
    ],
)
def test_other_networks_are_refused_in_one_sentence(
    small: tuple[NetworkConfig, dict[str, Any]], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(PlannerConfigError, match=said):
        NetworkPolicy(small[1], {**small[0].to_json(), **changes}, encode, [ACTIONS] * 2, BOUNDS)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"encoder/linear_0/bias": np.zeros(1, np.float32)}, r"encoder/linear_0/bias is \[1\], expected \[8\]"),
        ({"actor/kernel": np.full((8, 3), 3e38, np.float32)}, "actor has weights too large to compute with"),
        ({"core/memory": np.full((8, 32), 3e38, np.float32)}, "core has weights too large to compute with"),
    ],
)
def test_arrays_that_would_play_otherwise_than_they_were_trained_are_refused(
    small: tuple[NetworkConfig, dict[str, Any]], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(PlannerConfigError, match=said):
        policy_of({**small[1], **changes}, small[0])


def test_files_that_hold_no_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    overlapping = {name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} for name in "ab"}
    longer = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    deep, *headers = "[" * 200_000, json.dumps(overlapping), json.dumps(longer), '{"a": [1]}', "[]"
    of_headers = [len(text).to_bytes(8, "little") + text.encode() + bytes(8) for text in (deep, *headers)]
    for data in (b"", b"\xff" * 20, *of_headers):
        path.write_bytes(data)
        with pytest.raises(PlannerConfigError, match="cannot be read as the arrays of a network"):
            read_arrays(path)
    checkpoint.save_policy(tmp_path, {"weights": np.array([1.0, np.nan])}, {})
    with pytest.raises(PlannerConfigError, match="not finite"):
        read_arrays(path)
