"""Batched environments, compiled once for a file's tests."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import pytest

from games.batched.yokai.environment import YokaiEnv, make

IDS = [f"yokai-{cards}c-{players}p" for cards in (9, 16) for players in (2, 3, 4)] + ["yokai-8c-2p"]

BETWEEN = ("yokai-9c-3p", "yokai-9c-4p", "yokai-16c-2p", "yokai-16c-3p")
"""Tried by `make slow` alone: the configurations between the smallest and the largest."""


@cache
def compiled(game_id: str) -> tuple[YokaiEnv, Callable[..., Any]]:
    env = make(game_id)
    return env, jax.jit(env.step)


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow if name in BETWEEN else ()) for name in IDS],
)
def game_id(request: pytest.FixtureRequest) -> str:
    """Every configuration's id in turn."""
    return str(request.param)


@pytest.fixture
def small() -> tuple[YokaiEnv, Callable[..., Any]]:
    """Nine cards, two players: the environment and its compiled step."""
    return compiled("yokai-9c-2p")
