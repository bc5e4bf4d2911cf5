"""Small examples for networks, and modules as compiled functions."""

import jax
import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def ready(filled):
    """Returns random parameters of a module for an example, and the module as a compiled function."""

    def prepare(module, *example):
        return filled(module.init, *example), jax.jit(module.apply)

    return prepare


@pytest.fixture
def filled():
    """Returns parameters of the shapes that `init` makes, all of them random, none zero; nothing is compiled."""

    def fill(init, *example):
        noise = np.random.default_rng(1)
        shapes = jax.eval_shape(init, jax.random.key(0), *example)
        return jax.tree.map(lambda leaf: (0.5 * noise.normal(size=leaf.shape)).astype(leaf.dtype), shapes)

    return fill


@pytest.fixture
def symmetric(rng):
    """Returns random symmetric adjacency matrices with self-connections."""

    def draw(*shape):
        drawn = np.triu(rng.random(shape) < 0.4, 1)
        return (drawn | drawn.swapaxes(-1, -2) | np.eye(shape[-1], dtype=bool)).astype(np.float32)

    return draw
