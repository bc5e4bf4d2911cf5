"""Trained policies as planners of simultaneous moves run them: read by NumPy, without JAX.

A checkpoint is a folder as `cwm train posg` writes it. One of a game whose agents differ holds a folder for each of
them, `seat0` and so on.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from arena.checkpoints.places import ABOUT, MOST_POLICIES, POLICY, SEAT
from cwm.storage.keys import canonical_json
from games.posg.api import PosgModel, Vectors
from search.api import PlannerConfigError
from search.posg.network_policy import NetworkPolicy, read_arrays


def is_checkpoint(name: str) -> bool:
    """Whether a name is the folder of a trained policy, or of one for each agent."""
    return bool(_places(Path(name)))


def load(folder: Path, model: PosgModel) -> Sequence[NetworkPolicy]:
    """Reads a policy.

    Args:
        folder: of the checkpoint.
        model: of the game that it plays.

    Returns:
        A policy for each agent; one that the checkpoint has no policy for refuses to start.

    Raises:
        PlannerConfigError: the checkpoint cannot be read, or was trained on another game.
    """
    count = model.info.num_agents
    found = [_read(place, model) for place in _places(folder)]
    if not found:
        raise PlannerConfigError(f"{folder} holds no trained policy: give a folder that has {ABOUT}.")
    return [next((one for one in found if agent in one.agents), found[0]) for agent in range(count)]


def content_hash(folder: Path) -> str:
    """Returns the SHA-256 of a checkpoint: of its arrays and of what it says of itself.

    Raises:
        PlannerConfigError: it cannot be read.
    """
    digest = hashlib.sha256()
    for place in _places(folder):
        digest.update(canonical_json(_about(place)).encode())
        digest.update(_bytes(place / POLICY))
    return digest.hexdigest()


def seed_of(folder: Path) -> int | None:
    """Returns the seed that a policy was trained with; None: its checkpoint does not say.

    Raises:
        PlannerConfigError: it cannot be read.
    """
    seeds = [_about(place).get("seed") for place in _places(folder)]
    return int(seeds[0]) if seeds and isinstance(seeds[0], int) else None


def partners_of(folder: Path) -> tuple[str, ...]:
    """Returns the co-players that a best response was trained with, as `cwm train posg` named them; () if it says none.

    Raises:
        PlannerConfigError: it cannot be read.
    """
    found = [_about(place).get("partners") for place in _places(folder)]
    return tuple(map(str, found[0])) if found and isinstance(found[0], list) else ()


def _places(folder: Path) -> list[Path]:
    """Returns the folders that hold the policies of a checkpoint: itself, or one for each agent."""
    if (folder / ABOUT).is_file():
        return [folder]
    return sorted(place.parent for place in folder.glob(f"{SEAT}*/{ABOUT}"))


def _read(folder: Path, model: PosgModel) -> NetworkPolicy:
    return _made(folder, model, content_hash(folder))  # type: ignore[arg-type]  # models are told apart as objects


@lru_cache(maxsize=MOST_POLICIES)
def _made(folder: Path, model: PosgModel, content: str) -> NetworkPolicy:
    about, info = _about(folder), model.info
    if about.get("game") != info.id:
        raise PlannerConfigError(f"{folder} was trained on {about.get('game')}, the game is {info.id}.")
    if not isinstance(model, Vectors):
        raise PlannerConfigError(f"{info.id} does not write observations as vectors, which networks read.")
    seat, network = about.get("seat"), about.get("network")
    if not isinstance(network, dict):
        raise PlannerConfigError(f"{folder / ABOUT} is damaged: its network is no object; restore it.")
    if seat is not None and seat not in range(info.num_agents):
        raise PlannerConfigError(
            f"{folder / ABOUT} is damaged: its seat is {seat!r:.40}, expected one of {info.num_agents}; restore it."
        )
    agents = range(info.num_agents) if seat is None else [int(seat)]
    bounds = [model.vector_bounds(agent) for agent in agents]
    if len({len(lowest) for lowest, _ in bounds}) > 1:
        raise PlannerConfigError(f"agents of {info.id} see vectors of different lengths: train a policy for each.")
    arrays = read_arrays(folder / POLICY)
    try:
        return NetworkPolicy(arrays, network, model.encode, info.actions, bounds[0], agents)
    except PlannerConfigError as error:
        raise PlannerConfigError(f"{folder}: {error}") from error


def _about(folder: Path) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads(_bytes(folder / ABOUT))
        # Its hash is made of this, which knows finite numbers alone.
        canonical_json(about)
    except (ValueError, RecursionError) as error:
        raise PlannerConfigError(f"{folder / ABOUT} is damaged ({error}): restore it.") from error
    if not isinstance(about, dict):
        raise PlannerConfigError(f"{folder / ABOUT} is damaged: it holds no object; restore it.")
    return about


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlannerConfigError(f"{path} cannot be read ({error}): give the folder of a trained policy.") from error
