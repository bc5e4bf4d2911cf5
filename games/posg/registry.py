"""Finds games of simultaneous moves by id. Importing this module loads no game; `make` does."""

import difflib
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from games.api import GameError, UnknownGameError
from games.factories import build
from games.posg.api import PosgError, PosgModel
from games.posg.overcooked_v2 import layouts
from games.posg.policies import PosgPolicy

RECORDED: Final = 120
"""Steps of a kitchen's games to learn from: enough for two dishes by chefs who know what to do."""
DISH: Final = 20.0
"""What a dish served pays; a number here, since the kitchens' rules load what this module must not."""


@dataclass(frozen=True)
class PosgEntry:
    """Where a registered game lives.

    Attributes:
        id: what `make` takes.
        title: name for people.
        package: folder of the game, with `RULES.md` and `RULEBOOK.md`.
        factory: `module:attribute` of what builds the model.
        margin: a smaller difference between two players' payoffs counts as none.
        why: that many, in words.
        params: fixed keyword arguments of the factory.
        exact: its states are so few that a belief over all of them can be carried along.
        has_chance: anything in it is drawn, if nothing else is asked for.
        particulars: `module:attribute` of what tells, given `params`, what holds for this game alone of those of its
            folder; the end of its rules, told as a specification and to people.
        recorded: as in `games.registry.GameEntry`.
    """

    id: str
    title: str
    package: str
    factory: str
    margin: float
    why: str = "a twentieth of the range of payoffs."
    params: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = False
    has_chance: bool = True
    particulars: str = ""
    recorded: Mapping[str, Any] = field(default_factory=dict)


def _small(game_id: str, title: str, factory: str, **facts: Any) -> PosgEntry:
    """Returns the row of a game whose beliefs are exact; `factory` is `folder:class`."""
    folder, name = factory.split(":")
    package = f"games.posg.{folder}"
    return PosgEntry(game_id, title, package, f"{package}.model:{name}", exact=True, **facts)


def _large(game_id: str, title: str, factory: str, **facts: Any) -> PosgEntry:
    """Returns the row of a game of too many states for exact beliefs; `factory` is `folder:class`."""
    folder, name = factory.split(":")
    package = f"games.posg.{folder}"
    return PosgEntry(game_id, title, package, f"{package}.model:{name}", **facts)


def _kitchen(game_id: str) -> PosgEntry:
    """Returns the row of a layout of OvercookedV2, with its options.

    Raises:
        GameError: there is no such layout, or no such option of it.
    """
    known = layouts.canonical(game_id)
    layout, chosen = layouts.parse(known)
    options = known.split(",")[1:]
    return PosgEntry(
        known,
        ", ".join([f"OvercookedV2, {layout.name.replace('_', ' ')}", *options]),
        "games.posg.overcooked_v2",
        "games.posg.overcooked_v2.model:make",
        DISH,
        "one dish served.",
        {"game": known},
        has_chance=layout.symmetric or chosen["starts"] == "random" or chosen["kitchen"] == "random",
        particulars="games.posg.overcooked_v2.told:particulars",
        recorded={"steps": min(RECORDED, int(chosen["steps"]))},
    )


_ENTRIES: Final[Mapping[str, PosgEntry]] = {
    entry.id: entry
    for entry in (
        _small("button-game", "Button game", "button_game:ButtonGame", margin=1.0),
        _small("cat-dog", "Cat-dog game", "cat_dog:CatDog", margin=1.25),
        _small("cooperative-reaching", "Cooperative reaching", "cooperative_reaching:CooperativeReaching", margin=0.05),
        _large("driving", "Driving", "driving:Driving", margin=0.1),
        _large("foraging", "Level-based foraging", "foraging:ForagingInPlaces", margin=0.05),
        _large("foraging-random", "Level-based foraging, drawn places", "foraging:Foraging", margin=0.05),
        _kitchen(layouts.LISTED),
        _small("mabc", "Broadcast channel", "mabc:BroadcastChannel", margin=1.0),
        _large("predator-prey", "Predators and prey", "predator_prey:PredatorPrey", margin=0.05),
        _large("pursuit-evasion", "Pursuit and evasion", "pursuit_evasion:PursuitEvasion", margin=0.1),
        _small(
            "rps-repeated", "Rock, paper, scissors, repeated", "rps:RockPaperScissors", has_chance=False, margin=2.0
        ),
        _small("tiger-2a", "Tiger, two agents", "tiger:Tiger", margin=110.0),
        _small("two-paths", "Two paths", "two_paths:TwoPaths", has_chance=False, margin=0.1),
        _small("uav", "Drone and fugitive", "uav:UavHunt", margin=5.0),
    )
}


def ids() -> list[str]:
    """Returns the ids of the games of simultaneous moves; one layout of OvercookedV2 stands for all."""
    return list(_ENTRIES)


def unlisted() -> list[str]:
    """Returns the ids of the other layouts of OvercookedV2."""
    return [game_id for game_id in layouts.BY_ID if game_id not in _ENTRIES]


def knows(game_id: str) -> bool:
    """Whether an id is that of a game of simultaneous moves, listed or not, without an option or with right ones."""
    if game_id.split(",")[0] not in layouts.BY_ID:
        return game_id in _ENTRIES
    try:
        return layouts.canonical(game_id) == game_id
    except GameError:
        return False


def entry_of(game_id: str) -> PosgEntry:
    """Returns where a game lives.

    Raises:
        UnknownGameError: no game has this id; the message lists those there are and the nearest.
        GameError: it is a layout of OvercookedV2 with an option that there is not.
    """
    if game_id in _ENTRIES:
        return _ENTRIES[game_id]
    if game_id.split(",")[0] in layouts.BY_ID:
        return _kitchen(game_id)
    nearest = difflib.get_close_matches(game_id.lower(), _ENTRIES, n=1)
    hint = f" Did you mean {nearest[0]}?" if nearest else ""
    raise UnknownGameError(f"There is no game of simultaneous moves {game_id!r}.{hint} Known: {', '.join(_ENTRIES)}.")


def make(game_id: str, **params: Any) -> PosgModel:
    """Builds the model of a game.

    Args:
        game_id: a registered id.
        **params: what the game takes beside what its id fixes, e.g. `variant="posggym"`.

    Raises:
        UnknownGameError: no game has this id.
        PosgError: the game takes no such parameter, or refuses its value.
    """
    found = entry_of(game_id)
    return cast("PosgModel", build(game_id, found.factory, found.params, params, PosgError))


def policies(game_id: str, model: PosgModel) -> Mapping[str, PosgPolicy]:
    """Returns the hand-written policies that ship with a game, by name.

    Args:
        game_id: a registered id.
        model: of the game, as `make` built it.

    Raises:
        UnknownGameError: no game has this id.
        PosgError: the game has none.
    """
    name = f"{entry_of(game_id).package}.partners"
    if importlib.util.find_spec(name) is None:
        have = ", ".join(one for one in _ENTRIES if importlib.util.find_spec(f"{_ENTRIES[one].package}.partners"))
        raise PosgError(f"{game_id} ships no policies; these games do: {have}.")
    found: Mapping[str, PosgPolicy] = importlib.import_module(name).policies(model)
    return found
