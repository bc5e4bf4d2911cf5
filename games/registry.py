"""Finds games by id. Importing this module loads no game; `make` does."""

import difflib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final, cast

from games import plugins
from games.api import Game, GameError, UnknownGameError
from games.factories import build
from games.own_code import PREFIX as OWN
from games.own_code import place_of
from games.posg import registry as simultaneous
from games.posg.overcooked_v2 import layouts

_OPEN_SPIEL: Final = "open_spiel:"
_SYNTHESISED: Final = "cwm:"
_SCRAMBLED: Final = "scrambled:"


@dataclass(frozen=True)
class Margin:
    """How large a difference between two players still counts as none, stated beforehand.

    Attributes:
        delta: in the units of the difference: of payoffs, or of R where players cooperate.
        reason: one sentence.
    """

    delta: float
    reason: str


@dataclass(frozen=True)
class GameEntry:
    """Where a registered game lives.

    Attributes:
        id: what `make` takes.
        title: name for people.
        package: folder of the game, with `RULES.md`; empty for the games of `open_spiel:`.
        factory: `module:attribute` of what builds the game.
        params: fixed keyword arguments of the factory.
        rules: `module:attribute` of what writes the rules text, called with `params`; empty: the text is `RULES.md`.
        book: `module:attribute` of what writes the rule book, likewise; empty: it is `RULEBOOK.md`.
        note: what lists of games are to say of it.
        margin: None for a tenth of the range of payoffs.
        drawn: keyword arguments of the factory with which states do not list what chance may deal; empty where that
            follows from the rules.
        recorded: keyword arguments of the factory with which games are played to learn from and to be tested on, where
            whole ones would be too long; players who know the game then play some of them, since random ones see
            little of it.
    """

    id: str
    title: str
    package: str
    factory: str
    params: Mapping[str, Any] = field(default_factory=dict)
    rules: str = ""
    book: str = ""
    note: str = ""
    margin: Margin | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)
    recorded: Mapping[str, Any] = field(default_factory=dict)


_WINS: Final = Margin(
    0.2, "a tenth of the range from loss (-1) to win (+1): apart from draws, at most 55 wins of one to 45 of the other."
)
_R: Final = Margin(1.0, "one point of R, less than what a single hint or a single misplaced card is worth in a game.")


def _yokai(cards: int, players: int, **facts: Any) -> GameEntry:
    return GameEntry(
        id=f"yokai-{cards}c-{players}p",
        title=f"Yōkai, {cards} cards, {players} players",
        package="games.yokai",
        factory="games.yokai.game:make",
        params={"cards": cards, "players": players},
        rules="games.yokai.game:rules",
        **facts,
    )


_FIREWORKS_OF_25: Final = ("2p", "3p", "4p", "5p")
_POINT: Final = Margin(1.0, "one card of 25 in the fireworks, the least by which games differ.")


def _hanabi(name: str, title: str, **sizes: int) -> GameEntry:
    return GameEntry(
        id=f"hanabi-{name}",
        title=f"Hanabi, {title}",
        package="games.hanabi",
        factory="games.hanabi.game:make",
        params=sizes,
        rules="games.hanabi.game:rules",
        margin=_POINT if name in _FIREWORKS_OF_25 else None,
    )


_LAYOUTS: Final = (
    f"one of {len(layouts.LAYOUTS)} layouts, which all have options: {layouts.FAMILY}-LAYOUT[,OPTION=VALUE]; "
    "a wrong layout or option is answered with those that there are"
)


def _simultaneous(game_id: str) -> GameEntry:
    """Returns the row of a game of `games.posg.registry`, played in turns."""
    found = simultaneous.entry_of(game_id)
    return GameEntry(
        found.id,
        found.title,
        found.package,
        "games.posg.as_game:make",
        {"game": found.id},
        rules="games.posg.as_game:rules",
        book="games.posg.as_game:book" if found.particulars else "",
        margin=Margin(found.margin, found.why),
        note=_LAYOUTS if found.id == layouts.LISTED else "",
        recorded=found.recorded,
    )


_ENTRIES: Final[Mapping[str, GameEntry]] = {
    entry.id: entry
    for entry in (
        GameEntry("tic_tac_toe", "Tic-tac-toe", "games.tic_tac_toe", "games.tic_tac_toe.game:TicTacToe", margin=_WINS),
        GameEntry(
            "connect_four", "Connect Four", "games.connect_four", "games.connect_four.game:ConnectFour", margin=_WINS
        ),
        GameEntry(
            "kuhn_poker",
            "Kuhn poker",
            "games.kuhn_poker",
            "games.kuhn_poker.game:KuhnPoker",
            margin=Margin(0.4, "a tenth of the range of payoffs, -2 to +2."),
        ),
        GameEntry(
            "leduc_poker",
            "Leduc poker",
            "games.leduc_poker",
            "games.leduc_poker.game:LeducPoker",
            margin=Margin(1.0, "one ante, a twenty-sixth of the range of payoffs, -13 to +13."),
        ),
        GameEntry(
            "gin_rummy",
            "Gin rummy",
            "games.gin_rummy",
            "games.gin_rummy.game:GinRummy",
            margin=Margin(25.0, "the bonus of one gin or undercut, a tenth of the range of payoffs, -123 to +123."),
        ),
        GameEntry(
            "mnk",
            "Generalized tic-tac-toe",
            "games.mnk",
            "games.mnk.game:GeneralizedTicTacToe",
            margin=_WINS,
        ),
        GameEntry(
            "army5x5a", "Generalized chess army5x5a", "games.army5x5a", "games.army5x5a.game:Army5x5a", margin=_WINS
        ),
        GameEntry("quadranto", "Quadranto", "games.quadranto", "games.quadranto.game:Quadranto", margin=_WINS),
        GameEntry("hand_of_war", "Hand of War", "games.hand_of_war", "games.hand_of_war.game:HandOfWar", margin=_WINS),
        GameEntry("backgammon", "Backgammon", "games.backgammon", "games.backgammon.game:Backgammon", margin=_WINS),
        GameEntry(
            "bargaining",
            "Bargaining",
            "games.bargaining",
            "games.bargaining.game:Bargaining",
            margin=Margin(0.5, "a twentieth of the pool, which is worth 10 to each."),
            drawn={"listed": False},
        ),
        _yokai(9, 2, margin=_R),
        _yokai(9, 3, margin=_R),
        _yokai(9, 4, margin=_R),
        _yokai(16, 2, margin=_R),
        _yokai(16, 3),
        _yokai(16, 4),
        _yokai(8, 2, note="reduced setting, not in the paper"),
        _hanabi("2p", "two players", players=2),
        _hanabi("3p", "three players", players=3),
        _hanabi("4p", "four players", players=4),
        _hanabi("5p", "five players", players=5),
        _hanabi("mini-2p", "mini, two players", players=2, colours=3, ranks=3, hand=3, info=5, lives=3),
        _hanabi("small-2p", "small, two players", players=2, colours=2, ranks=5, hand=2, info=3, lives=1),
        _hanabi("tiny-2p", "tiny, two players", players=2, colours=1, ranks=5, hand=2, info=3, lives=1),
        *map(_simultaneous, simultaneous.ids()),
    )
}


def ids() -> list[str]:
    """Returns the ids of all listed games; `open_spiel:NAME` reaches every other game of OpenSpiel."""
    return list(_ENTRIES)


def unlisted() -> list[str]:
    """Returns the ids of games that ship and differ from a listed one in their layout alone."""
    return simultaneous.unlisted()


def knows(game_id: str) -> bool:
    """Whether an id is that of a game that ships, listed or not."""
    return game_id in _ENTRIES or simultaneous.knows(game_id)


def describe(game_id: str) -> GameEntry:
    """Returns where a game lives.

    Args:
        game_id: a registered id; `open_spiel:` and what `pyspiel.load_game` takes; `python:FILE:NAME`; the name of one
            that an installed distribution brings; or `scrambled:` and one of these.

    Raises:
        UnknownGameError: no game has this id; the message lists those there are and the nearest.
        GameError: it names a file, a layout or an option wrongly.
    """
    if game_id.startswith(OWN):
        place = place_of(game_id.removeprefix(OWN), "python:FILE:NAME")
        own = "games.own_code:make", {"game": str(place)}
        return GameEntry(f"{OWN}{place}", place.name, "", *own, rules="games.own_code:rules")
    if game_id.startswith(_OPEN_SPIEL) and game_id != _OPEN_SPIEL:
        name = game_id.removeprefix(_OPEN_SPIEL)
        return GameEntry(game_id, name, "", "games.adapters.open_spiel:OpenSpielGame", {"game": name})
    if game_id.startswith(_SCRAMBLED):
        inner = describe(game_id.removeprefix(_SCRAMBLED))
        title = f"{inner.title}, its words scrambled"
        return GameEntry(game_id, title, "", "games.scrambled:make", {"game": inner.id})
    if game_id in _ENTRIES:
        return _ENTRIES[game_id]
    if game_id.startswith(f"{layouts.FAMILY}-"):
        return _simultaneous(layouts.canonical(game_id))
    if game_id in plugins.names(plugins.GAMES):
        brought = "games.installed:make", {"game": game_id}
        return GameEntry(game_id, game_id, "", *brought, rules="games.installed:rules")
    if game_id.startswith(_SYNTHESISED):
        raise UnknownGameError(
            f"{game_id} is a synthesised game; here only games that ship, {_OPEN_SPIEL}NAME and {OWN}FILE:NAME are "
            "taken."
        )
    nearest = difflib.get_close_matches(game_id.lower(), _ENTRIES, n=1)
    hint = f" Did you mean {nearest[0]}?" if nearest else ""
    raise UnknownGameError(
        f"There is no game {game_id!r}.{hint} Known: {', '.join(_ENTRIES)}, {_OPEN_SPIEL}NAME for OpenSpiel's own, "
        f"{OWN}FILE:NAME for one of yours, and {_SCRAMBLED}NAME for any of them with its words scrambled."
    )


def absolute(game_id: str) -> str:
    """Returns the id that means the same game in every folder: that of a file of the user's own is made absolute, and
    options that change nothing are left out."""
    if game_id.startswith(_SCRAMBLED):
        return _SCRAMBLED + absolute(game_id.removeprefix(_SCRAMBLED))
    return describe(game_id).id if game_id.startswith((OWN, f"{layouts.FAMILY}-")) else game_id


def content_hash(game_id: str) -> str | None:
    """Returns the hash of a game of the user's own, `python:FILE:NAME`: of its file and name; None for any other.

    Raises:
        GameError: the file cannot be read.
    """
    if game_id.startswith(_SCRAMBLED):
        inner = content_hash(game_id.removeprefix(_SCRAMBLED))
        return None if inner is None else f"{_SCRAMBLED}{inner}"
    if not game_id.startswith(OWN):
        return None
    return place_of(game_id.removeprefix(OWN), "python:FILE:NAME").hash


def make(game_id: str, **params: Any) -> Game:
    """Builds a game.

    Args:
        game_id: as for `describe`.
        **params: what the game's factory takes beside what its id fixes, e.g. `memory=True` for Yōkai.

    Raises:
        UnknownGameError: no game has this id.
        GameError: the game takes no such parameter, or OpenSpiel refuses it.
    """
    found = describe(game_id)
    return cast("Game", build(game_id, found.factory, found.params, params))


def rules_of(game: Game) -> str:
    """Returns the rules text that a game brings along as `rules`, else that of its id; errors as for `rules`."""
    own = getattr(game, "rules", None)
    return own if isinstance(own, str) else rules(game.info.id)


def rules(game_id: str) -> str:
    """Returns the rules text of a game.

    Raises:
        UnknownGameError: no game has this id.
        GameError: the game is one of OpenSpiel's own or scrambled: these come without a text.
    """
    found = describe(game_id)
    if found.rules:
        return _written(found.rules, found.params)
    if not found.package:
        raise GameError(f"{game_id} has no rules text; games with one: {', '.join(_ENTRIES)}.")
    return resources.files(found.package).joinpath("RULES.md").read_text(encoding="utf-8")


def _written(place: str, params: Mapping[str, Any]) -> str:
    module, attribute = place.split(":")
    return str(getattr(importlib.import_module(module), attribute)(**params))


def rule_book(game_id: str) -> str:
    """Returns the rules of a game as they are told to people, without a name of the implementation.

    A game that has no such text, as one of the user's own, is told by its rules text.

    Raises:
        UnknownGameError: no game has this id.
        GameError: the game comes without a text.
    """
    found = describe(game_id)
    if found.book:
        return _written(found.book, found.params)
    file = resources.files(found.package).joinpath("RULEBOOK.md") if found.package else None
    if file is None or not file.is_file():
        return rules(game_id)
    text = file.read_text(encoding="utf-8")
    kin = [entry for entry in _ENTRIES.values() if entry.package == found.package]
    return text if len(kin) < 2 else f"{text.rstrip()}\n\n## This game\n\n{found.title}.\n"


def book_of(game: Game) -> str:
    """Returns the rules of a game as they are told to people: those that it brings along, else the rule book of its id.

    Raises:
        UnknownGameError: no game has this id.
        GameError: the game comes without a text.
    """
    own = getattr(game, "rules", None)
    return own if isinstance(own, str) else rule_book(game.info.id)


def told(game_id: str, by_book: bool) -> str:
    """Returns the rule book of a game, or its specification; errors as for both."""
    return rule_book(game_id) if by_book else rules(game_id)


DRAWN: Final = "/drawn"
"""After the id, in a file of names: of the game whose states do not list what chance may deal."""


def vocabulary(game_id: str, drawn: bool = False) -> Mapping[str, list[str]] | None:
    """Returns the names in a game's records, collected from very many games; None where nobody collected them.

    Args:
        game_id: as for `describe`.
        drawn: whether states do not list what chance may deal, see `GameEntry`.
    """
    package = describe(game_id).package
    file = resources.files(package).joinpath("vocabulary.json") if package else None
    if file is None or not file.is_file():
        return None
    found: Mapping[str, Mapping[str, list[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return found.get(game_id + DRAWN * drawn)
