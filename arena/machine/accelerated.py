"""Loads the parts that need JAX, which is an optional dependency, only when they are asked for."""

import importlib
from types import ModuleType
from typing import Final

from games.api import GameError
from games.extras import install

BATCHED: Final = frozenset({"jax", "jaxlib"})
LEARN: Final = frozenset({"chex", "flax", "mctx", "optax", "safetensors", "tensorboardX"})
LEARNERS: Final = (
    "arena.agents",
    "arena.checkpoints",
    "arena.training",
    "arena.policy_play",
    "arena.papers.overcooked",
    "arena.papers.yokai",
    "search.learn",
)
"""Where learned policies are at home; `arena.training_on_models` begins so, too."""


def load(module: str) -> ModuleType:
    """Imports a module that needs JAX, or what learning needs beside it.

    Args:
        module: its full name, e.g. `arena.benchmarks.yokai_speed`.

    Raises:
        GameError: JAX, or a part of the extra `learn`, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in LEARN or (missing in BATCHED and module.startswith(LEARNERS)):
            raise GameError(
                f"Learned policies need {missing}, which is not installed; run: {install('learn')}."
            ) from error
        if missing not in BATCHED:
            raise
        raise GameError(f"Batched games need JAX, which is not installed; run: {install('batched')}.") from error
