"""The scaffolds that a game offers, by name, with their texts; and whether an agent's options go with one."""

import difflib
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from arena.agents.llm_settings import PLAIN, LlmConfig, LlmConfigError
from arena.language_players.prompts import GamePrompts
from arena.language_players.scaffolds import searching
from cwm.interface import templates
from cwm.interface.templates import BEFORE, SUFFIX, WordingError
from cwm.interface.wording import Wording
from cwm.storage.keys import content_key
from games import registry
from games.api import DEFAULT_VIEW, Game, GameInfo, UnknownGameError
from games.scaffolds import Role, Scaffold

_ROLES: Final = (Role("baseline", moves=True), Role("analyst", "role_analyst"), Role("history", "role_history"))
_GENERAL: Final[Mapping[str, int]] = {"rated": 0, "rated-memory": 1}
"""Scaffolds that every game has, and how many own turns they remember."""
BEFORE_ALL: Final = "scaffold_before"
"""A wording's template that comes before every message."""
_COMMON: Final = ("_game", "_names")
_OF_SCAFFOLDS: Final = ("scaffold_", "rated", "role_")
"""What the names of the templates that scaffolds use begin with."""
_OWN_HISTORY: Final = ("history", "trajectories", "trajectories_seed")
"""Options of what a scaffold of a game's own tells in its own way."""


@dataclass(frozen=True)
class Offered:
    """A scaffold with its texts.

    Attributes:
        scaffold: what is shown and asked for.
        texts: names and texts of the templates that do not lie in `prompts`.
    """

    scaffold: Scaffold
    texts: tuple[tuple[str, str], ...]

    @property
    def hash(self) -> str:
        """The hash of everything that makes its prompts but the game and the options, 64 hexadecimal digits."""
        shared = {name: templates.source(name) for name in templates.names() if _is_used(name)}
        told = self.scaffold
        asked = [told.brief, told.state, told.system, told.labels, told.ratings, told.deduction, told.words]
        roles = [[role.name, role.template, role.moves, role.least_players] for role in told.roles]
        return content_key({"texts": shared | dict(self.texts), "asked": asked, "roles": roles, "view": told.view})


def names(info: GameInfo) -> list[str]:
    """Returns the names of all scaffolds that a game has, those for every game first."""
    return [PLAIN, *_GENERAL, *_own(info.id)]


def check(config: LlmConfig, game: Game, view: str) -> str:
    """Returns the view that a language model is shown, after checking that its options go together.

    Args:
        config: how it is asked.
        game: what is played.
        view: which view was asked for; the default one where none was.

    Raises:
        LlmConfigError: they do not, or do not go with the game; the message says why.
    """
    if config.scaffold not in names(game.info):
        near = difflib.get_close_matches(config.scaffold, names(game.info), 1)
        known = ", ".join(names(game.info))
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise LlmConfigError(f"{game.info.id} has the scaffolds {known}, not {config.scaffold!r}{hint}")
    _check_wording(config, game.info)
    if config.scaffold == PLAIN:
        given = {"k": config.k > 1, "mixture": config.mixture, "memory": config.memory is not None}
        for name in (name for name, is_given in given.items() if is_given):
            raise LlmConfigError(f"{name}= takes a scaffold that asks for more than a move: add scaffold=rated.")
    if config.choose != "model" and config.k == 1:
        raise LlmConfigError(f"choose={config.choose} chooses among several answers: add k=3.")
    if config.choose == "search":
        searching.check(game)
    several = [name for name, is_given in _several(config).items() if is_given]
    if len(several) > 1:
        raise LlmConfigError(f"{several[0]} and {several[1]} are two ways to ask more than once: leave one out.")
    if config.scaffold == PLAIN or config.scaffold in _GENERAL:
        return view
    return _check_own(config, game.info, _own(game.info.id)[config.scaffold], view)


def _several(config: LlmConfig) -> dict[str, bool]:
    return {"k": config.k > 1, "votes": config.votes > 1, "mixture": config.mixture}


def _check_own(config: LlmConfig, info: GameInfo, scaffold: Scaffold, view: str) -> str:
    usual = LlmConfig()
    for name in _OWN_HISTORY:
        if getattr(config, name) != getattr(usual, name):
            raise LlmConfigError(f"scaffold={scaffold.name} tells the game in its own way: leave out {name}=.")
    if config.choose == "rating" and not scaffold.ratings:
        raise LlmConfigError(f"scaffold={scaffold.name} asks for no ratings: leave out choose=rating.")
    if scaffold.view is None or view == scaffold.view:
        return view
    if view != DEFAULT_VIEW:
        raise LlmConfigError(
            f"scaffold={scaffold.name} shows the view {scaffold.view!r}, not {view!r}: leave out view=."
        )
    if scaffold.view not in info.views:
        raise LlmConfigError(
            f"scaffold={scaffold.name} shows the view {scaffold.view!r}; this game has {', '.join(info.views)}."
        )
    return scaffold.view


def _check_wording(config: LlmConfig, info: GameInfo) -> None:
    if config.wording is None:
        return
    try:
        Wording(str(config.wording["name"]), dict(config.wording["templates"])).check(dict(_own_texts(info.id)))
    except WordingError as error:
        raise LlmConfigError(str(error)) from None


def offered(config: LlmConfig, game: Game, view: str) -> Offered:
    """Returns the scaffold that an agent asked for, with the texts of its wording in the place of ours.

    Args:
        config: as `check` let it pass; not `plain`.
        game: what is played.
        view: what is shown.
    """
    worded = {} if config.wording is None else dict(config.wording["templates"])
    if BEFORE in worded:  # a message is put together of several templates
        worded[BEFORE_ALL] = worded.pop(BEFORE)
    if config.scaffold in _GENERAL:
        prompts = GamePrompts(game, config, view)
        scaffold = Scaffold(
            config.scaffold, "rated", "rated_state", prompts.values, memory=_GENERAL[config.scaffold], roles=_ROLES
        )
        return Offered(scaffold, tuple(worded.items()))
    return Offered(_own(game.info.id)[config.scaffold], tuple({**dict(_own_texts(game.info.id)), **worded}.items()))


def _is_used(name: str) -> bool:
    return name in _COMMON or name.startswith(_OF_SCAFFOLDS)


def _package(game_id: str) -> str | None:
    try:
        package = registry.describe(game_id).package
    except UnknownGameError:  # a synthesised model of a user's own game
        return None
    found = package and importlib.util.find_spec(f"{package}.scaffolds") is not None
    return f"{package}.scaffolds" if found else None


def _own(game_id: str) -> Mapping[str, Scaffold]:
    package = _package(game_id)
    if package is None:
        return {}
    found: Mapping[str, Scaffold] = importlib.import_module(package).SCAFFOLDS
    return found


@cache
def _own_texts(game_id: str) -> tuple[tuple[str, str], ...]:
    """Returns names and texts of the templates in a game's folder."""
    package = _package(game_id)
    if package is None:
        return ()
    files = sorted(resources.files(package).iterdir(), key=lambda file: file.name)
    return tuple(
        (file.name.removesuffix(SUFFIX), file.read_text(encoding="utf-8"))
        for file in files
        if file.name.endswith(SUFFIX)
    )
