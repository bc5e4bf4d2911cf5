"""Loads the parts that need JAX, which is an optional dependency, only when they are asked for."""

import importlib
from types import ModuleType

from games.api import GameError


def load(module: str) -> ModuleType:
    """Imports a module that needs JAX.

    Args:
        module: its full name, e.g. `arena.benchmarks.yokai_speed`.

    Raises:
        GameError: JAX is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in {"jax", "jaxlib"}:
            raise
        raise GameError(
            "Batched games need JAX, which is not installed; run: pip install 'code-world-models[batched]'."
        ) from error
