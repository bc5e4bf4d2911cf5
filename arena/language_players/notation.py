"""Moves as language models write them: one tolerant reading of action names, and a game's own notations beside it.

Only the value of `move` in an answer's JSON is read, never prose. A reading is taken only where it fits exactly one
legal action, and stricter readings come first, so that tolerance never chooses between two moves.
"""

import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from games import registry
from games.api import Action, Json, UnknownGameError

Writer: TypeAlias = Callable[[Action], Json]
"""Writes an action in one notation."""

_TOKEN: Final = re.compile(r"(?<!\w)-?\d+|\d+|[^\W\d_]+|[^\w\s]|_")
_QUOTES: Final = "'\"`*“”‘’«»"
_NUMBER: Final = re.compile(r"-?\d+")
_DEEPEST: Final = 4
"""Lists in lists, at most."""


class NotationError(ValueError):
    """A move is in no notation at all: not a text, a whole number or a list of these."""


@dataclass(frozen=True)
class OwnNotations:
    """Notations that ship with a game (module `notation` of its folder).

    Attributes:
        description: sentences for the prompt, which document them; "" for none.
        writers: by name: an action in each documented notation.
        candidates: names of the actions that a move may mean, () if it is in none of these notations.
    """

    description: str = ""
    writers: Mapping[str, Writer] = field(default_factory=dict)
    candidates: Callable[[Json], Sequence[Action]] = lambda move: ()


DESCRIPTION: Final = (
    "A move is written as the exact name of an action, as a JSON string. Upper and lower case, spaces and quotation "
    "marks in it do not matter. A list of the name's words and numbers in their order is read too, and so are its "
    "numbers alone, as a number or a list, where only one legal action has these numbers."
)


def own_notations(game_id: str) -> OwnNotations:
    """Returns the notations that ship in the game's folder, none if it has no module `notation`."""
    try:
        package = registry.describe(game_id).package
    except UnknownGameError:  # a synthesised model of a user's own game
        return OwnNotations()
    if not package or importlib.util.find_spec(f"{package}.notation") is None:
        return OwnNotations()
    module = importlib.import_module(f"{package}.notation")
    return OwnNotations(module.DESCRIPTION, module.WRITERS, module.candidates)


def read(move: Json, legal: Sequence[Action], own: OwnNotations | None = None) -> Action | None:
    """Returns the legal action that a move means, None if it means none of them.

    Args:
        move: what the model wrote.
        legal: names of the legal actions.
        own: the game's own notations.

    Raises:
        NotationError: the move is no text, whole number or list of these.
    """
    text = _text(move)
    if text in legal:
        return text
    readings: list[Callable[[str], object]] = [tokens, words_and_numbers]
    found = next((action for reading in readings if (action := _only(reading, text, legal)) is not None), None)
    if found is None and own is not None:
        candidates = set(own.candidates(move))
        meant = [action for action in legal if action in candidates]
        found = meant[0] if len(meant) == 1 else None
    if found is None and not any(character.isalpha() for character in text):
        found = _only(numbers, text, legal)
    return found


def tokens(text: str) -> tuple[str, ...]:
    """Returns words, numbers and marks, without regard to case, spaces and quotation marks."""
    return tuple(_TOKEN.findall(text.strip().strip(_QUOTES).casefold()))


def words_and_numbers(text: str) -> tuple[str, ...]:
    """Returns the words and numbers alone."""
    return tuple(token for token in tokens(text) if token[-1].isalnum())


def numbers(text: str) -> tuple[str, ...]:
    """Returns the numbers alone."""
    return tuple(token for token in tokens(text) if _NUMBER.fullmatch(token))


WRITERS: Final[Mapping[str, Writer]] = {
    "exact name": lambda action: action,
    "upper case": lambda action: action.upper(),
    "lower case": lambda action: action.lower(),
    "spaces": lambda action: "  ".join(tokens_as_written(action)),
    "quoted": lambda action: f" `{action}` ",
    "list": lambda action: [_json_word(token) for token in tokens_as_written(action) if token[-1].isalnum()],
    "numbers": lambda action: [int(number) for number in numbers(action)],
}
"""The notations that every game has, as `DESCRIPTION` documents them; each is read where it fits one action alone."""


def tokens_as_written(text: str) -> list[str]:
    """Returns words, numbers and marks as they are written."""
    return _TOKEN.findall(text)


def _json_word(token: str) -> Json:
    return int(token) if _NUMBER.fullmatch(token) and str(int(token)) == token else token


def _only(reading: Callable[[str], object], text: str, legal: Sequence[Action]) -> Action | None:
    wanted = reading(text)
    if not wanted:
        return None
    found = [action for action in legal if reading(action) == wanted]
    return found[0] if len(found) == 1 else None


def _text(move: Json, depth: int = 0) -> str:
    if isinstance(move, str):
        return move
    if isinstance(move, int | float) and not isinstance(move, bool) and float(move).is_integer():
        return str(int(move))
    if isinstance(move, list) and move and depth < _DEEPEST:
        return " ".join(_text(part, depth + 1) for part in move)
    shown = json.dumps(move, ensure_ascii=False)
    raise NotationError(
        f"the move {shown if len(shown) <= 80 else shown[:79] + '…'} is no text, whole number or list of these"
    )
