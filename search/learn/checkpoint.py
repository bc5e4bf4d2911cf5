"""Policies and whole trainings on disk: arrays as safetensors, everything else as JSON, written whole or not at all."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from search.learn.api import Params
from search.learn.errors import CheckpointError

ABOUT: Final = "config.json"
POLICY: Final = "policy.safetensors"
TRAINING: Final = "training.safetensors"
FORMAT: Final = 1


def named_leaves(tree: Any) -> dict[str, Any]:
    """Returns the leaves of a tree by their path, e.g. `encoder/convolution_0/kernel`."""
    found, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="/"): leaf for path, leaf in found}


def save_policy(folder: Path, params: Params, about: Mapping[str, Any], half: bool = False) -> None:
    """Writes a policy: its parameters, and what is needed to build its network.

    Args:
        folder: where to; made if it is missing.
        params: of the network, without an axis of seeds.
        about: JSON; `format` is added.
        half: store float16, for shipping.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kind = np.float16 if half else np.float32
    arrays = {name: np.asarray(leaf).astype(kind) for name, leaf in named_leaves(params).items()}
    _write_arrays(folder / POLICY, arrays)
    _write_json(folder / ABOUT, {"format": FORMAT, **about})


def load_about(folder: Path) -> dict[str, Any]:
    """Reads what a checkpoint says of itself.

    Raises:
        CheckpointError: there is none, or it is damaged or of a newer format.
    """
    try:
        about: dict[str, Any] = json.loads((folder / ABOUT).read_text())
        number = about["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"No checkpoint can be read from {folder} ({error}): give a folder with {ABOUT}."
        ) from error
    if number != FORMAT:
        raise CheckpointError(f"The checkpoint in {folder} has format {number}; this version reads {FORMAT}.")
    return about


def load_policy(folder: Path) -> Params:
    """Reads the parameters of a policy as float32 NumPy arrays in nested dictionaries.

    Raises:
        CheckpointError: there are none, or they are damaged.
    """
    tree: dict[str, Any] = {}
    for name, array in _read_arrays(folder / POLICY).items():
        *path, last = name.split("/")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = array.astype(np.float32)
    return tree


def save_training(folder: Path, state: Any, about: Mapping[str, Any]) -> None:
    """Writes the whole state of a training, so that it goes on bit for bit.

    Args:
        folder: where to; made if it is missing.
        state: a tree of arrays and typed keys.
        about: JSON that says which training it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.asarray(_plain(leaf)) for name, leaf in named_leaves(state).items()}
    _write_arrays(folder / TRAINING, arrays, {"about": json.dumps(about, sort_keys=True)})


def has_training(folder: Path) -> bool:
    """Whether a training was stored there."""
    return (folder / TRAINING).exists()


def load_training(folder: Path, like: Any) -> Any:
    """Reads the state of a training.

    Args:
        folder: where `save_training` wrote it.
        like: a state of the same training, or its shapes (`jax.eval_shape`).

    Raises:
        CheckpointError: there is none, it is damaged, or it has other arrays.
    """
    arrays = _read_arrays(folder / TRAINING)
    wanted = named_leaves(like)
    if arrays.keys() != wanted.keys():
        other = sorted(arrays.keys() ^ wanted.keys())[0]
        raise CheckpointError(f"{folder / TRAINING} is of another training: {other} is in one of both alone.")
    leaves = []
    for name, leaf in wanted.items():
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        found = jnp.asarray(arrays[name])
        if is_key:
            found = jax.random.wrap_key_data(found, impl=jax.random.key_impl(jnp.empty((), leaf.dtype)))
        if found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise CheckpointError(
                f"{folder / TRAINING} is of another training: {name} is {found.dtype}{list(found.shape)}, "
                f"expected {leaf.dtype}{list(leaf.shape)}; choose another folder or the settings it began with."
            )
        leaves.append(found)
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _plain(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> None:
    beside = path.with_name(path.name + ".partial")
    save_file({name: np.asarray(array, order="C") for name, array in arrays.items()}, beside, metadata)
    os.replace(beside, path)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        found: dict[str, NDArray[Any]] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be read as a checkpoint ({error}): give the folder of one.") from error
    return found


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    beside = path.with_name(path.name + ".partial")
    beside.write_text(json.dumps(data, indent=2) + "\n")
    os.replace(beside, path)
