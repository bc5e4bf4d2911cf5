"""The registered games of the yardstick: what of them is fixed by hash, seed by seed."""

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from arena.evaluation.held_out_games import held_out_games
from arena.runs.how_told import HowTold
from arena.runs.inputs import Inputs, registered
from arena.runs.settings import RunSettings
from arena.yardstick.games import YardstickError, book_hash, games_hash
from cwm.storage.keys import canonical_json
from games import registry

_TABLE: Final = "registered.json"
LEARN: Final = 5
"""Random games to learn from, as `cwm synthesize` plays them unless somebody asks otherwise."""


@dataclass(frozen=True)
class FixedSeed:
    """What is fixed of one synthesis.

    Attributes:
        seed: of the synthesis, from which its games derive.
        learn_sha256: of the games to learn from, see `games_hash`.
        held_out_sha256: of the held-out games, at least 10,000 transitions; None where nobody has fixed them yet.
    """

    seed: int
    learn_sha256: str
    held_out_sha256: str | None


@dataclass(frozen=True)
class RegisteredGame:
    """One registered game, fixed by hash.

    Attributes:
        id: in the registry.
        rule_book_sha256: of the text that is told.
        names_sha256: of the names in the records, which are listed beside it.
        seeds: of the syntheses that may be made.
    """

    id: str
    rule_book_sha256: str
    names_sha256: str
    seeds: tuple[FixedSeed, ...]

    @property
    def how(self) -> HowTold:
        """Returns how it is told: by the book, as `cwm synthesize` does unless somebody asks otherwise."""
        return HowTold.asked(self.id, "book", None, None)

    def inputs(self, seed: int, version: int) -> Inputs:
        """Plays the games to learn from.

        Args:
            seed: one of `seeds`.
            version: of the yardstick, for errors.

        Raises:
            YardstickError: rule book, names or games are not the fixed ones.
        """
        inputs = registered(self.id, LEARN, seed, how=self.how)
        fixed = self.seeds[seed]
        self._same("rule book", book_hash(inputs.rules), self.rule_book_sha256, version)
        self._same("names", names_hash(self.id), self.names_sha256, version)
        self._same("games to learn from", games_hash(inputs.train), fixed.learn_sha256, version)
        return inputs

    def check_held_out(
        self, inputs: Inputs, settings: RunSettings, version: int, workers: int, kept: Path | None
    ) -> str:
        """Plays the held-out games, on which the model will be tested, checks them and returns their hash.

        Args:
            inputs: of the synthesis.
            settings: of the synthesis.
            version: of the yardstick, for errors.
            workers: processes that play; changes no game.
            kept: folder of the user's cache, where they are kept until the test; None for nowhere.

        Raises:
            YardstickError: they are not the fixed ones.
            WorkerDiedError: a process that plays ended.
        """
        found = games_hash(held_out_games(inputs, settings, workers, kept))
        self._same("held-out games", found, self.seeds[settings.seed].held_out_sha256 or found, version)
        return found

    def _same(self, what: str, found: str, fixed: str, version: int) -> None:
        if found != fixed:
            raise YardstickError(
                f"The {what} of {self.id} are not those that version {version} of the yardstick fixes: the game, its "
                "texts or what plays it was changed; install the package anew, with the open_spiel that it names."
            )


def names_hash(game_id: str) -> str:
    """Returns the SHA-256, in hexadecimal, of the names that are listed beside a rule book."""
    drawn = HowTold.asked(game_id, "book", None, None).chance == "drawn"
    return hashlib.sha256(canonical_json(registry.vocabulary(game_id, drawn)).encode("ascii")).hexdigest()


def table() -> Path:
    """Returns the file of the fixed games."""
    return Path(str(resources.files("arena.yardstick").joinpath(_TABLE)))


def load() -> tuple[RegisteredGame, ...]:
    """Returns the registered games in the order of tables; plays nothing."""
    rows: list[dict[str, Any]] = json.loads(table().read_text(encoding="utf-8"))["games"]
    return tuple(RegisteredGame(**row | {"seeds": tuple(FixedSeed(**one) for one in row["seeds"])}) for row in rows)
