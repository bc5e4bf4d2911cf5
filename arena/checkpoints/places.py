"""Where the policies of a training lie. This module needs no JAX, so that agents can be named without it."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from search.learn.errors import CheckpointError

ABOUT: Final = "config.json"
POLICY: Final = "policy.safetensors"
SEAT: Final = "seat"
RECORDED: Final = "recorded"
"""Stands for the folder of a training that ships with the project."""
SHIPPED: Final = Path(__file__).with_name("shipped")
"""Holds one folder a game, in it one a policy."""
PPO: Final = "ppo"
MOST_POLICIES: Final = 32
"""Policies that a process keeps compiled."""


def folder_of(name: str, game: str) -> Path:
    """Returns the folder that an agent's description names: `recorded` for one that ships for the game.

    Raises:
        CheckpointError: none ships for the game.
    """
    if name != RECORDED:
        return Path(name)
    shipped = SHIPPED / game / PPO
    if not shipped.is_dir():
        known = ", ".join(sorted(path.parent.name for path in SHIPPED.glob(f"*/{PPO}")))
        raise CheckpointError(
            f"No agent that was trained on a model ships for {game}, only for {known}: train one with `cwm train ppo`, "
            "and give its folder."
        )
    return shipped


def seat_folder(folder: Path, seat: int) -> Path:
    """Returns where a seat's policy lies."""
    return folder / f"{SEAT}{seat}"


def read_about(folder: Path, seat: int) -> dict[str, Any]:
    """Reads what a seat's checkpoint says of itself.

    Raises:
        CheckpointError: there is none, or it is damaged.
    """
    path = seat_folder(folder, seat) / ABOUT
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(about, dict) or not {"game", "seat", "view", "vectors", "actions", "steps"} <= about.keys():
            raise CheckpointError(f"{path} is no checkpoint of an agent trained on a model.")
    except (OSError, ValueError) as error:
        raise CheckpointError(
            f"{folder} holds no agent for seat {seat} ({error}): train one for it with `cwm train ppo`."
        ) from error
    return about


def seats_hash(folder: Path, seats: int) -> str:
    """Returns a SHA-256 of the policies of all seats: what an agent's play depends on.

    Raises:
        OSError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for seat in range(seats):
        for name in (ABOUT, POLICY):
            digest.update(hashlib.sha256((seat_folder(folder, seat) / name).read_bytes()).digest())
    return digest.hexdigest()
