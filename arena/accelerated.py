"""Loads the parts that need JAX, which is an optional dependency, only when they are asked for."""

import importlib
from types import ModuleType
from typing import Final

from games.api import GameError

LEARNING: Final = frozenset({"flax", "optax", "safetensors", "tensorboardX"})
"""What learned agents need beside JAX."""


def load(module: str) -> ModuleType:
    """Imports a module that needs JAX.

    Args:
        module: its full name, e.g. `arena.benchmarks.yokai_speed`.

    Raises:
        GameError: JAX is not installed, or what learned agents need beside it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in LEARNING:
            raise GameError(
                f"Learned agents need {missing}, which is not installed; run: pip install 'code-world-models[learn]'."
            ) from error
        if missing not in {"jax", "jaxlib"}:
            raise
        raise GameError(
            "Batched games need JAX, which is not installed; run: pip install 'code-world-models[batched]'."
        ) from error
