"""Populations of policies of simultaneous games, stored by name, seed and content: what types and co-players may name.

A population is a JSON file: `game`, and `members`, each with a `name` (a hand-written policy of the game, or the folder
of a trained one, seen from the file), and of trained ones the `seed` and the `hash` of their content.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from arena.checkpoints import for_planners
from arena.checkpoints.places import SHIPPED
from cwm.storage import stored_json
from cwm.storage.files import write_whole
from search.api import PlannerConfigError

SUFFIX: Final = ".json"


@dataclass(frozen=True)
class Member:
    """One policy of a population.

    Attributes:
        name: of a hand-written policy, or the folder of a trained one.
        seed: that it was trained with; None: it is hand-written, or does not say.
        hash: of its content; None: it is hand-written.
    """

    name: str
    seed: int | None = None
    hash: str | None = None


def shipped_names(game_id: str) -> list[str]:
    """Returns the names of the populations that ship for a game."""
    return sorted(path.stem for path in (SHIPPED / game_id).glob(f"*{SUFFIX}"))


def expanded(game_id: str, names: Sequence[str]) -> tuple[str, ...]:
    """Returns names of policies, with those of its members in place of every population that is named.

    Args:
        game_id: of the game.
        names: of policies, of populations that ship for the game, e.g. `P0`, and files of populations.

    Raises:
        PlannerConfigError: a file is none of a population of this game, or a trained member changed.
    """
    found: dict[str, None] = {}
    for name in names:
        shipped = SHIPPED / game_id / f"{name}{SUFFIX}"
        if shipped.is_file() or name.endswith(SUFFIX):
            found |= dict.fromkeys(_members(shipped if shipped.is_file() else Path(name), game_id))
        else:
            found[name] = None
    return tuple(found)


def write(path: Path, game_id: str, names: Sequence[str]) -> list[Member]:
    """Writes a population of policies, named as `expanded` returns them, and returns its members.

    Raises:
        PlannerConfigError: a trained policy cannot be read.
    """
    members = []
    for name in names:
        if for_planners.is_checkpoint(name):
            place = os.path.relpath(name, path.parent)
            members.append(Member(place, for_planners.seed_of(Path(name)), for_planners.content_hash(Path(name))))
        else:
            members.append(Member(name))
    told = {"game": game_id, "members": [_told(member) for member in members]}
    write_whole(path, json.dumps(told, indent=1) + "\n")
    return members


def _told(member: Member) -> dict[str, str | int]:
    return {name: value for name, value in asdict(member).items() if value is not None}


def _members(path: Path, game_id: str) -> list[str]:
    def made(stored: dict[str, Any]) -> tuple[str, list[Member]]:
        return stored["game"], [_member(facts) for facts in stored["members"]]

    game, members = stored_json.read(path, made, PlannerConfigError, "give a population that `cwm posg prune` wrote")
    if game != game_id:
        raise PlannerConfigError(f"{path} is a population of {game}, the game is {game_id}.")
    names = []
    for member in members:
        if member.hash is None:
            if member.seed is not None or for_planners.is_checkpoint(member.name):
                raise PlannerConfigError(
                    f"{path} names {member.name} without the hash of its content, as hand-written policies are named, "
                    "but it is a trained one: make the population anew."
                )
            names.append(member.name)
            continue
        folder = path.parent / member.name
        if not for_planners.is_checkpoint(str(folder)) or for_planners.content_hash(folder) != member.hash:
            raise PlannerConfigError(
                f"{folder} is not the trained policy that {path} names: restore it, or make the population anew."
            )
        names.append(os.path.normpath(folder))
    return names


def _member(facts: dict[str, Any]) -> Member:
    member = stored_json.exactly(Member)(facts)
    for name, kind in (("name", str), ("seed", int | None), ("hash", str | None)):
        if not isinstance(getattr(member, name), kind):
            raise ValueError(f"the {name} of a member is {getattr(member, name)!r:.40}")
    if b"\0" in os.fsencode(member.name):
        raise ValueError("the name of a member has a zero byte")
    return member
