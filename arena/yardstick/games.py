"""The twenty games: their rule books, and the played games that every language model is given and tested on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from arena.runs.how_told import HowTold
from arena.runs.inputs import Stated
from arena.usage import UsageError
from cwm.storage.files import write_whole
from cwm.storage.keys import canonical_json
from cwm.trajectories.recorded import Trajectory, collect, write
from games import registry

Information: TypeAlias = Literal["perfect", "chance or hidden"]
"""Whether everything is open and nothing random happens."""

_PACKAGE: Final = "arena.yardstick"
_TABLE: Final = "games.json"
_BOOKS: Final = "rule_books"
HOW: Final = HowTold(detail="book", names="none")


class YardstickError(UsageError):
    """A rule book or the played games are not those that the yardstick fixes, so nothing could be compared."""


@dataclass(frozen=True)
class YardstickGame:
    """One game, fixed by hash.

    Attributes:
        id: what `games.registry.make` takes, with the parameters.
        title: name for people.
        kind: what sort of game, in a word or two.
        information: whether everything is open and nothing random happens.
        players: how many.
        seed: of its played games.
        rule_book_sha256: of the rule book's bytes.
        games_sha256: of the played games, see `games_hash`.
    """

    id: str
    title: str
    kind: str
    information: Information
    players: int
    seed: int
    rule_book_sha256: str
    games_sha256: str

    @property
    def name(self) -> str:
        """OpenSpiel's name without parameters; the rule book's file is called so."""
        return self.id.partition(":")[2].partition("(")[0].removeprefix("python_")


@dataclass(frozen=True)
class Asked:
    """What `cwm synthesize` is given for a game of the user's own.

    Attributes:
        rules: file of the rule book.
        trajectories: file of the played games, those to learn from first.
        held_out: how many games, the last ones, are kept for the test.
        stated: whether every player sees everything. It has to be said: states hold every action since the start, so
            the records of a game whose board alone is seen look as if something were hidden.
        how: by the rule book, without lists of names beside it. States and observations are texts here, of which such
            lists repeat whole boards; every kind of action occurs in the games to learn from.
    """

    rules: Path
    trajectories: Path
    held_out: int
    stated: Stated
    how: HowTold


@dataclass(frozen=True)
class Yardstick:
    """The fixed games.

    Attributes:
        version: changes with every change of a game, a seed, a rule book or a number; results of different versions
            are not compared.
        open_spiel: the version of OpenSpiel that played the games.
        learn: games to learn from, the first ones.
        held_out: games that are kept for the test, the last ones.
        games: in the order of tables.
    """

    version: int
    open_spiel: str
    learn: int
    held_out: int
    games: tuple[YardstickGame, ...]

    def game(self, name: str) -> YardstickGame:
        """Returns the game of a name, e.g. `othello`.

        Raises:
            YardstickError: there is none; lists those there are.
        """
        for game in self.games:
            if name in (game.name, game.id):
                return game
        known = ", ".join(game.name for game in self.games)
        raise YardstickError(f"The yardstick has no game {name!r}; it has {known}.")

    def rule_book(self, game: YardstickGame) -> str:
        """Returns the rules as people are told them.

        Raises:
            YardstickError: the text was changed.
        """
        text = book(game.name)
        if book_hash(text) != game.rule_book_sha256:
            raise YardstickError(
                f"The rule book of {game.name} is not the one that version {self.version} of the yardstick fixes: its "
                "text was changed; install the package anew, or renew the table and raise its version."
            )
        return text

    def trajectories(self, game: YardstickGame) -> list[Trajectory]:
        """Plays the game's random games: `learn` to learn from, then `held_out` for the test.

        Raises:
            YardstickError: they are not the fixed ones, as after an update of OpenSpiel that changed the game.
            GameError: OpenSpiel has the game no more.
        """
        found = played(game, self.learn + self.held_out)
        if games_hash(found) != game.games_sha256:
            raise YardstickError(
                f"The played games of {game.name} are not those that version {self.version} of the yardstick fixes: "
                f"{self._why_others()}."
            )
        return found

    def _why_others(self) -> str:
        """Returns why games are not the fixed ones, and what to do."""
        here = version("open_spiel")
        if here != self.open_spiel:
            return (
                f"those were played with OpenSpiel {self.open_spiel}, and the installed OpenSpiel {here} plays or "
                f"shows the game differently; install open_spiel=={self.open_spiel}"
            )
        return "its row in the table, or the code that plays and records games, was changed; install the package anew"

    def write(self, game: YardstickGame, folder: Path) -> Asked:
        """Writes what a synthesis of the game is given.

        Args:
            game: one of `games`.
            folder: is made if it is not there.

        Raises:
            YardstickError: see `rule_book` and `trajectories`.
            OSError: a file cannot be written.
        """
        text, games = self.rule_book(game), self.trajectories(game)
        folder.mkdir(parents=True, exist_ok=True)
        stated = Stated(perfect_information=registry.make(game.id).info.perfect_information)
        asked = Asked(folder / f"{game.name}.md", folder / f"{game.name}.jsonl.gz", self.held_out, stated, HOW)
        write_whole(asked.rules, text)
        write(asked.trajectories, games)
        return asked


def load() -> Yardstick:
    """Returns the yardstick that ships; plays nothing."""
    data: dict[str, Any] = json.loads(table().read_text(encoding="utf-8"))
    rows = tuple(YardstickGame(**row) for row in data.pop("games"))
    return Yardstick(games=rows, **data)


def table() -> Path:
    """Returns the file of the fixed games."""
    return Path(str(resources.files(_PACKAGE).joinpath(_TABLE)))


def book(name: str) -> str:
    """Returns the rule book of a name as it lies there, unchecked."""
    return resources.files(_PACKAGE).joinpath(_BOOKS, f"{name}.md").read_text(encoding="utf-8")


def book_hash(text: str) -> str:
    """Returns the SHA-256 of a rule book, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def played(game: YardstickGame, games: int) -> list[Trajectory]:
    """Plays random games, unchecked; game i depends on the game's seed and i alone."""
    return collect(registry.make(game.id), games, game.seed)


def games_hash(trajectories: Sequence[Trajectory]) -> str:
    """Returns the SHA-256, in hexadecimal, of the records as canonical JSON, one line a step."""
    digest = hashlib.sha256()
    for trajectory in trajectories:
        for record in trajectory.to_records():
            digest.update(canonical_json(record).encode("ascii") + b"\n")
    return digest.hexdigest()
