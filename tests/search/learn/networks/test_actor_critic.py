from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from search.learn.errors import NetworkConfigError
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import GRAPHS, NetworkConfig

SMALL = {"hidden": 8, "filters": 4, "layers": 1, "heads": 2, "window": 2, "graph_heads": 2, "head_scale": 1.0}
STARTS = np.zeros((3, 2), bool)


class Pair(NamedTuple):
    nodes: np.ndarray
    adjacency: np.ndarray


@pytest.fixture
def images(rng):
    return rng.normal(size=(3, 2, 4, 5, 3)).astype(np.float32)


@pytest.fixture
def graphs(rng, symmetric):
    return Pair(rng.normal(size=(3, 2, 5, 3)).astype(np.float32), symmetric(3, 2, 4, 4))


@pytest.fixture
def built(filled):
    """Returns a network's random parameters, and what it makes of parameters and observations, compiled."""

    def build(config, observation):
        network = ActorCritic(config, num_actions=6)
        read = jax.jit(lambda params, seen: network.apply(params, network.initial_memory(2), seen, STARTS))
        return filled(network.init, observation), read

    return build


def test_what_the_encoder_gives_is_normalised_and_heads_share_layers_if_asked_for(images, built):
    config = NetworkConfig(**{**SMALL, "core": "none"}, layer_norm=True, shared_layers=1)
    params, apply = built(config, images)
    assert {"normalised", "shared_0"} <= set(params)
    _, outputs = apply(params, images)
    tripled = {"projection": {"kernel": 3 * params["projection"]["kernel"], "bias": 3 * params["projection"]["bias"]}}
    _, again = apply({**params, **tripled}, images)
    np.testing.assert_allclose(again.logits, outputs.logits, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("encoder", ["cnn", "mlp", *GRAPHS])
def test_every_encoder_gives_logits_values_and_features(encoder, images, graphs, built):
    observation = graphs if encoder in GRAPHS else images
    params, apply = built(NetworkConfig(**SMALL, encoder=encoder), observation)
    memory, outputs = apply(params, observation)
    assert (outputs.logits.shape, outputs.values.shape) == ((3, 2, 6), (3, 2))
    assert (outputs.features.shape, memory.shape) == ((3, 2, 8), (2, 8))
    assert (np.asarray(outputs.logits).std(axis=(0, 1)) > 0).all()


@pytest.mark.parametrize("core", ["gru", "lstm", "rnn", "transformer_xl", "none"])
def test_every_core_gives_logits_values_and_features(core, images, built):
    params, apply = built(NetworkConfig(**SMALL, core=core), images)
    _, outputs = apply(params, images)
    assert (outputs.logits.shape, outputs.values.shape, outputs.features.shape) == ((3, 2, 6), (3, 2), (3, 2, 8))
    jumbled = images[np.array([1, 0, 2])]
    _, after = apply(params, jumbled)
    assert np.allclose(outputs.logits[2], after.logits[2], atol=1e-5) == (core == "none")


def test_a_trunk_is_read_by_the_memory_and_heads_have_widths_of_their_own(rng):
    seen = rng.integers(-1, 3, size=(3, 2, 2)).astype(np.float32)
    config = NetworkConfig("mlp", "lstm", 8, trunk=(7, 6), head_widths=(5, 4), values_of=((-1, 4), (0, 3)))
    network = ActorCritic(config, num_actions=6, rank=1)
    shapes = jax.tree.map(jnp.shape, jax.eval_shape(network.init, jax.random.key(0), seen))
    assert shapes["encoder"] == {
        "linear_0": {"kernel": (7, 7), "bias": (7,)},
        "linear_1": {"kernel": (7, 6), "bias": (6,)},
    }
    assert shapes["core"]["input"]["kernel"] == (6, 32)
    assert [shapes[name]["kernel"] for name in ("actor_0", "actor_1", "actor")] == [(8, 5), (5, 4), (4, 6)]
    assert [shapes[name]["kernel"] for name in ("critic_0", "critic_1", "critic")] == [(8, 5), (5, 4), (4, 1)]
    assert "projection" not in shapes


def test_extra_layers_stand_between_the_memory_and_each_head(images, built):
    names = {}
    for count in (0, 1, 2):
        params, apply = built(NetworkConfig(**SMALL, extra_layers=count), images)
        names[count] = {name for name in params if name.startswith(("actor", "critic"))}
        memory, outputs = apply(params, images)
        if count:
            last = params[f"actor_{count - 1}"]
            assert last["kernel"].shape == (8, 8)
        assert np.array_equal(outputs.features[-1], memory) == (count == 0)
        logits = np.asarray(outputs.features) @ params["actor"]["kernel"] + params["actor"]["bias"]
        np.testing.assert_allclose(outputs.logits, logits, atol=1e-5)
    assert names[0] == {"actor", "critic"}
    assert names[1] == names[0] | {"actor_0", "critic_0"}
    assert names[2] == names[1] | {"actor_1", "critic_1"}


def test_heads_of_scale_zero_give_a_uniform_policy_and_no_value(images):
    network = ActorCritic(NetworkConfig(**SMALL | {"head_scale": 0.0}), num_actions=6)
    params = jax.jit(network.init)(jax.random.key(0), images)
    _, outputs = jax.jit(network.apply)(params, network.initial_memory(2), images, STARTS)
    assert not np.asarray(outputs.logits).any()
    assert not np.asarray(outputs.values).any()
    assert np.asarray(outputs.features).any()


def test_layers_are_orthogonal_of_scale_root_two(images):
    params = jax.jit(ActorCritic(NetworkConfig(**SMALL), num_actions=6).init)(jax.random.key(0), images)
    kernel = np.asarray(params["projection"]["kernel"])
    np.testing.assert_allclose(kernel.T @ kernel, 2 * np.eye(8), atol=1e-5)
    filters = np.asarray(params["encoder"]["convolution_0"]["kernel"]).reshape(-1, 4)
    np.testing.assert_allclose(filters.T @ filters, 2 * np.eye(4), atol=1e-5)


@pytest.mark.parametrize(("encoder", "core"), [("cnn", "gru"), ("gatv2", "rnn"), ("relation", "transformer_xl")])
def test_bfloat16_keeps_parameters_and_outputs_float32_and_comes_close(encoder, core, images, graphs, built):
    observation = graphs if encoder in GRAPHS else images
    plain = NetworkConfig(**SMALL, encoder=encoder, core=core)
    params, apply = built(plain, observation)
    own, short = built(NetworkConfig(**SMALL, encoder=encoder, core=core, bfloat16=True), observation)
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(own))
    (_, exact), (memory, rough) = apply(params, observation), short(params, observation)
    for leaf in [*rough, *jax.tree.leaves(memory)]:
        assert leaf.dtype in (jnp.float32, jnp.bool_)
    assert not np.array_equal(exact.logits, rough.logits)
    np.testing.assert_allclose(exact.logits, rough.logits, atol=0.1)


@pytest.mark.parametrize(("encoder", "core"), [("cnn", "gru"), ("mlp", "transformer_xl")])
def test_private_channels_reach_the_logits_and_never_the_memory(encoder, core, images, built):
    config = NetworkConfig(**SMALL, encoder=encoder, core=core, public_private=True, private_channels=2)
    params, apply = built(config, images)
    memory, outputs = apply(params, images)
    private, public = images.copy(), images.copy()
    private[..., :2] += 1
    public[..., 2] += 1
    kept, after = apply(params, private)
    for old, new in zip(jax.tree.leaves(memory), jax.tree.leaves(kept), strict=True):
        np.testing.assert_array_equal(old, new)
    assert not np.allclose(outputs.logits, after.logits)
    changed, _ = apply(params, public)
    assert not np.allclose(jax.tree.leaves(memory)[0], jax.tree.leaves(changed)[0])


def test_private_channels_of_one_step_reach_the_logits_of_that_step_alone(images, built):
    config = NetworkConfig(**SMALL, public_private=True, private_channels=2)
    params, apply = built(config, images)
    _, outputs = apply(params, images)
    other = images.copy()
    other[1, ..., :2] += 1
    _, after = apply(params, other)
    np.testing.assert_array_equal(outputs.logits[::2], after.logits[::2])
    assert not np.allclose(outputs.logits[1], after.logits[1])


def test_a_memory_that_would_be_shown_nothing_is_refused(images):
    config = NetworkConfig(**SMALL, encoder="mlp", public_private=True, private_channels=3)
    with pytest.raises(NetworkConfigError, match="private_channels is 3, but the images have 3 channels"):
        jax.eval_shape(ActorCritic(config, 5).init, jax.random.key(0), images)
