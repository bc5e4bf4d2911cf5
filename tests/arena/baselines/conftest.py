"""Untrained policies on disk."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from arena.baselines import policies
from search.learn import checkpoint
from search.learn.api import Params
from search.learn.networks.actor_critic import ActorCritic
from search.learn.networks.config import NetworkConfig

TINY = NetworkConfig(hidden=16, filters=4, layers=2)

SavePolicy = Callable[..., Path]


@cache
def untrained(game: str, seed: int, config: NetworkConfig) -> Params:
    """Returns parameters that nobody trained, the same for either view; large enough to prefer some actions to others.

    They are drawn without the network's own initialisers, each of which would be compiled.
    """
    env = policies.environment(game, "default", config)
    network = ActorCritic(config, env.num_actions)
    seen = jax.eval_shape(lambda key: env.observe(env.init(key)), jax.random.key(0))
    example = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape)), seen)
    shapes = jax.eval_shape(network.init, jax.random.key(0), example)
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda leaf: rng.normal(size=leaf.shape) / np.sqrt(np.prod(leaf.shape[:-1])), shapes)


@pytest.fixture
def save_policy(tmp_path: Path) -> SavePolicy:
    """Writes an untrained policy and returns its folder."""

    def save(
        name: str = "tiny", game: str = "yokai-9c-2p", view: str = "memory", seed: int = 0, config: NetworkConfig = TINY
    ) -> Path:
        params = untrained(game, seed, config)
        about = {"name": name, "game": game, "view": view, "method": "sp", "seed": seed, "steps": 0}
        checkpoint.save_policy(tmp_path / name, params, {**about, "network": config.to_json(), "ppo": {}})
        return tmp_path / name

    return save
