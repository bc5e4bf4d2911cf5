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
from safetensors.numpy import load_file, save

from search.learn.api import Array, Params
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

    Raises:
        CheckpointError: a file cannot be written; the old one is kept.
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


def load_policy(folder: Path, like: Params | None = None) -> Params:
    """Reads the parameters of a policy as float32 NumPy arrays in nested dictionaries.

    Args:
        folder: where `save_policy` wrote them.
        like: parameters of the network that is to read them, or their shapes (`jax.eval_shape`); a network takes no
            notice of arrays that it has no use for, and plays nonsense. None: whatever there is.

    Raises:
        CheckpointError: there are none, they are damaged, not all finite numbers, or of another network.
    """
    arrays = _read_arrays(folder / POLICY)
    # With others a network plays something, but not what was trained.
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise CheckpointError(
            f"{folder / POLICY} holds numbers that are not finite: its training failed, or it is damaged; give another."
        )
    if like is not None:
        _check_network(folder / POLICY, arrays, named_leaves(like))
    return nested({name: array.astype(np.float32) for name, array in arrays.items()})


def nested(arrays: Mapping[str, Any]) -> Params:
    """Returns arrays by the path of their names, in nested dictionaries."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *path, last = name.split("/")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = array
    return tree


def save_training(folder: Path, state: Any, about: Mapping[str, Any]) -> None:
    """Writes the whole state of a training, so that it goes on bit for bit.

    Args:
        folder: where to; made if it is missing.
        state: a tree of arrays and typed keys.
        about: JSON that says which training it is.

    Raises:
        CheckpointError: the file cannot be written; the old one is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write_arrays(folder / TRAINING, arrays_of(state), {"about": json.dumps(about, sort_keys=True)})


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
    return state_of(_read_arrays(folder / TRAINING), like, str(folder / TRAINING))


def arrays_of(state: Any) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a state by name; typed keys as the numbers of which they consist."""
    return {name: np.asarray(_plain(leaf)) for name, leaf in named_leaves(state).items()}


def state_of(arrays: Mapping[str, NDArray[Any]], like: Any, source: str) -> Any:
    """Returns the state of which `arrays_of` made arrays.

    Args:
        arrays: by name.
        like: a state of the same training, or its shapes.
        source: of the arrays, for errors.

    Raises:
        CheckpointError: they are others than those of `like`.
    """
    wanted = named_leaves(like)
    if arrays.keys() != wanted.keys():
        other = sorted(arrays.keys() ^ wanted.keys())[0]
        raise CheckpointError(f"{source} is of another training: {other} is in one of both alone.")
    leaves = []
    for name, leaf in wanted.items():
        found, stored = arrays[name], jax.eval_shape(_plain, leaf)
        if found.shape != stored.shape or found.dtype != stored.dtype:
            raise CheckpointError(
                f"{source} is of another training: {name} is {found.dtype}{list(found.shape)}, "
                f"expected {stored.dtype}{list(stored.shape)}; choose another folder or the settings it began with."
            )
        leaves.append(_as_leaf(jnp.asarray(found), leaf.dtype))
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _check_network(path: Path, arrays: Mapping[str, NDArray[Any]], wanted: Mapping[str, Any]) -> None:
    """Refuses arrays that are not those of a network."""
    advice = f"give the {ABOUT} that was written with it."
    if arrays.keys() != wanted.keys():
        other = sorted(arrays.keys() ^ wanted.keys())[0]
        raise CheckpointError(
            f"{path} is of another network than {ABOUT} says: {other} is in one of both alone; {advice}"
        )
    for name, leaf in wanted.items():
        if arrays[name].shape != leaf.shape:
            raise CheckpointError(
                f"{path} is of another network than {ABOUT} says: {name} is {list(arrays[name].shape)}, expected "
                f"{list(leaf.shape)}; {advice}"
            )


def _plain(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def _as_leaf(array: Array, kind: Any) -> Array:
    """Returns the leaf of that kind which `_plain` made an array of."""
    if not jnp.issubdtype(kind, jax.dtypes.prng_key):
        return array
    key: Array = jax.random.wrap_key_data(array, impl=jax.random.key_impl(jnp.empty((), kind)))
    return key


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> None:
    # Not `save_file`, whose files their owner alone can read.
    _write(path, save({name: np.asarray(array, order="C") for name, array in arrays.items()}, metadata))


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        found: dict[str, NDArray[Any]] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be read as a checkpoint ({error}): give the folder of one.") from error
    return found


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    _write(path, (json.dumps(data, indent=2) + "\n").encode())


def _write(path: Path, data: bytes) -> None:
    """Writes a file beside the old one, and renames it once it is on the disk: a power cut leaves one of both whole."""
    beside = path.with_name(path.name + ".partial")
    try:
        with beside.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be written ({error}): make room or choose another folder; what was stored before is kept."
        ) from error
