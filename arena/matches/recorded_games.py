"""Games in which a language model played, as they ship with the project: scored anew by the true rules."""

import json
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from arena.matches import replay
from arena.matches.match import GameRecord
from arena.matches.replay import RecordError
from games import registry

FOLDER: Final = "players"
"""In the folder of the recordings: one file a game, `GAME.jsonl`, a record of the arena a line."""


def games(game: str, folder: Traversable | None = None) -> list[GameRecord]:
    """Returns the games between a language model and a planner on a synthesised model, [] if none ship.

    The seats are named as in `arena.papers.cwm.tables.matches`, whatever the players were called.

    Args:
        game: our id.
        folder: of the files; None for the one that ships.

    Raises:
        RecordError: a game does not agree with the true rules, or a line is no game.
    """
    return [seated for record in _records(game, folder) for seated in _with_planner(record)]


def every_game(game: str, folder: Traversable | None = None) -> list[GameRecord]:
    """Returns all games that ship in which a language model played: with itself, or with a synthesised model's planner.

    The seats are named as in `arena.papers.cwm.tables.matches`; arguments and errors as for `games`.
    """
    return [_named(record) for record in _records(game, folder) if record.accounts]


def _records(game: str, folder: Traversable | None) -> list[GameRecord]:
    place = (folder or resources.files("cwm") / "recordings" / FOLDER) / f"{game}.jsonl"
    if not place.is_file():
        return []
    rules = registry.make(game)
    found: list[GameRecord] = []
    for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = GameRecord.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise RecordError(f"line {number} of {place} is no game ({type(error).__name__}: {error}).") from error
        replay.verify(rules, record)
        found.append(record)
    return found


def _named(record: GameRecord) -> GameRecord:
    seats = tuple(LLM if str(seat) in record.accounts else MODEL for seat in range(len(record.seats)))
    return replace(record, seats=seats)


def _with_planner(record: GameRecord) -> list[GameRecord]:
    """Returns the game if one seat is a language model's and the others are a synthesised model's planner."""
    asked = [int(seat) for seat in record.accounts]
    others = [name for seat, name in enumerate(record.seats) if seat not in asked]
    if len(asked) != 1 or not others or not all(name.startswith(MODEL) for name in others):
        return []
    return [_named(record)]


MODEL: Final = "cwm"
TRUE: Final = "true game"
RANDOM: Final = "random"
LLM: Final = "llm"
