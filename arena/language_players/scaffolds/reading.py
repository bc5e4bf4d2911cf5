"""Reads an answer by a scaffold: the move, ratings of all moves, a reason, notes. A rating never becomes a move.

What is not there or says two things is counted by kind and never guessed.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from arena.agents.api import AgentFailure
from arena.language_players import notation
from arena.language_players.notation import NotationError, OwnNotations
from arena.language_players.turn_record import Rating
from cwm.llm.json_answers import BrokenJsonError, NoJsonAnswerError, last_object
from games.api import Action, Json
from games.scaffolds import Scaffold

_LONGEST: Final = 100
_FAR: Final = 1e9
"""A rating beyond it is as wrong as any."""
_MOVE_KEYS: Final = ("action", "move")
_RATING_KEYS: Final = ("ratings", "move_ratings")
_REASON_KEYS: Final = ("reason", "reasoning")

_NUMBERED: Final = re.compile(
    r"(?:move|action|number|no\.?|#)?\s*#?\s*(\d{1,9})\s*(?:[.:,)\-–—]\s*)?(.*)", re.DOTALL | re.IGNORECASE
)
_SEVERAL: Final = re.compile(r"\bor\b|\band\b|[,&;]", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_MARKS: Final = "*_`"

_MOVE_LABEL: Final = re.compile(r"chosen\s+(?:move|action)(?:\s+number)?\s*[:=]", re.IGNORECASE)
_RATINGS_LABEL: Final = re.compile(r"(?:^|[\s.])(?:move\s+)?ratings?\s*:", re.IGNORECASE)
_REASON_LABEL: Final = re.compile(r"(?:^|\s)reason(?:ing)?\s*:", re.IGNORECASE)
_ENTRY: Final = re.compile(
    r"(?:^|[\n,;]|\bmove\b)[\s\-•\[\"]*(\d{1,9})\s*\.?\s*(?:\([^()\n]*\)\s*)?[:=]\s*([^\s,;\]\"]+)", re.IGNORECASE
)


@dataclass(frozen=True)
class Reading:
    """What an answer says.

    Attributes:
        action: the move.
        ratings: every legal move with its rating or None; () where the scaffold asks for none.
        reason: why, None if it gave no reason.
        notes: what it deduced, as it was written; None if it wrote nothing.
        dropped: ratings that were left out, by reason.
    """

    action: Action
    ratings: tuple[Rating, ...] = ()
    reason: str | None = None
    notes: Json = None
    dropped: Counter[str] = field(default_factory=Counter)


def read(text: str, scaffold: Scaffold, legal: Sequence[Action], own: OwnNotations) -> Reading:
    """Reads a whole answer.

    Args:
        text: the answer.
        scaffold: in whose form it is to be.
        legal: the legal moves, as they were numbered.
        own: the game's own notations.

    Raises:
        AgentFailure: `no_move`, `two_moves`, `illegal`, or `unparsable`: a JSON object that is cut off or broken.
    """
    if scaffold.labels and (found := _labelled(text)) is not None:
        moves, ratings, reason, notes = found
    else:
        answer = _object(text)
        moves = [answer[key] for key in _MOVE_KEYS if key in answer] + answer.again(_MOVE_KEYS)
        ratings = next((answer[key] for key in _RATING_KEYS if key in answer), None)
        reason = next((answer[key] for key in _REASON_KEYS if key in answer), None)
        notes = answer.get("deduction", answer.get("deductions"))
    meant = {move_of(move, legal, own) for move in moves}
    if len(meant) != 1:
        raise AgentFailure("two_moves" if meant else "no_move", _said(moves))
    dropped = Counter[str]()
    rated = _rated(_pairs(ratings, dropped), legal, own, dropped) if scaffold.ratings else ()
    return Reading(meant.pop(), rated, reason if isinstance(reason, str) and reason.strip() else None, notes, dropped)


def proposal_of(text: str, count: int) -> int:
    """Returns which of some proposals, numbered from 1, an answer chooses, from 0.

    Raises:
        AgentFailure: it chooses none, two, or one that is not there.
    """
    answer = _object(text, ("proposal",))
    values = [answer["proposal"], *answer.again(("proposal",))]
    numbers = {_whole(value) for value in values}
    if len(numbers) > 1:
        raise AgentFailure("two_moves", "the answer chooses two proposals")
    number = numbers.pop()
    if number is None:
        raise AgentFailure("no_move", f"{_shown(values[0])} is no number of a proposal")
    if not 1 <= number <= count:
        raise AgentFailure("illegal", f"there is no proposal {number}: they are numbered from 1 to {count}")
    return number - 1


def move_of(move: Json, legal: Sequence[Action], own: OwnNotations) -> Action:
    """Returns the legal move that a value names: by its number in the list, by its name, or by both.

    Raises:
        AgentFailure: `no_move`, `two_moves` or `illegal`.
    """
    if isinstance(move, list) and len(move) == 1:
        move = move[0]
    if move is None or isinstance(move, bool | dict) or move in ("", []):
        raise AgentFailure("no_move", f"{_shown(move)} names no move")
    if isinstance(move, int | float):
        return _numbered(move, legal)
    if isinstance(move, str):
        return _named(move, legal, own)
    if all(isinstance(part, int) for part in move):  # numbers of moves, whatever else they may be in a game's names
        raise AgentFailure("two_moves", f"{_shown(move)} names more than one move")
    found = _read(move, legal, own)
    if found is not None:
        return found
    several = len({_read(part, legal, own) for part in move} - {None}) > 1
    raise AgentFailure(
        "two_moves" if several else "illegal",
        f"{_shown(move)} {'names more than one move' if several else 'is no legal move now'}",
    )


def _numbered(number: float, legal: Sequence[Action]) -> Action:
    if not 0 <= number < len(legal) or int(number) != number:
        raise AgentFailure(
            "illegal", f"there is no move {_shown(number)}: they are numbered from 0 to {len(legal) - 1}"
        )
    return legal[int(number)]


def _named(text: str, legal: Sequence[Action], own: OwnNotations) -> Action:
    plain = text.strip().strip(_MARKS + "\"'[]").strip().removesuffix(".").strip().strip(_MARKS)
    if not any(character.isalnum() for character in plain):
        raise AgentFailure("no_move", f"{_shown(text)} names no move")
    if plain in legal and plain.isdecimal() and int(plain) < len(legal) and legal[int(plain)] != plain:
        raise AgentFailure("two_moves", f"{_shown(text)} is the name of one move and the number of another")
    same = [action for action in legal if notation.tokens(action) == notation.tokens(plain)]
    if len(same) == 1:
        return same[0]
    numbered = _NUMBERED.fullmatch(plain)
    if numbered is not None:
        number, rest = int(numbered[1]), numbered[2].strip()
        if not rest:
            return _numbered(number, legal)
        named_too = _read(rest, legal, own)
        if named_too is not None and number < len(legal) and legal[number] == named_too:
            return named_too
        more = plain[numbered.end(1) :]
        if named_too is not None or (_SEVERAL.search(more) and _DIGIT.search(more)):
            raise AgentFailure("two_moves", f"{_shown(text)} names more than one move")
    found = _read(plain, legal, own)
    if found is not None and any(character.isalpha() for character in plain):
        return found
    named = [action for action in legal if action.casefold() in plain.casefold()]
    # "x(0,1)" lies in "x(0,1)0"; only names that do not lie in each other are two.
    apart = [action for action in named if not any(action != other and action in other for other in named)]
    parts = {_read(part, legal, own) for part in _SEVERAL.split(plain) if part.strip()} - {None}
    if len(apart) > 1 or len(parts) > 1:
        raise AgentFailure("two_moves", f"{_shown(text)} names more than one move")
    raise AgentFailure("illegal", f"{_shown(text)} is no legal move now")


def _read(move: Json, legal: Sequence[Action], own: OwnNotations) -> Action | None:
    try:
        return notation.read(move, legal, own)
    except NotationError:
        return None


class _Answer(dict[str, Any]):
    """A JSON object that remembers the values of keys which it has twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._all = pairs

    def again(self, keys: Sequence[str]) -> list[Any]:
        """Returns the values of keys that a later one of the same name has taken the place of."""
        return [value for key, value in self._all if key in keys and value is not self[key]]


def _object(text: str, keys: Sequence[str] = _MOVE_KEYS) -> _Answer:
    try:
        try:
            found = last_object(text, keys[:1], _Answer)
        except BrokenJsonError:
            raise
        except NoJsonAnswerError:
            found = last_object(text, keys[-1:], _Answer)
    except BrokenJsonError as error:
        raise AgentFailure("unparsable", str(error)) from error
    except NoJsonAnswerError as error:
        raise AgentFailure("no_move", f"the answer holds no JSON object with {keys[0]}") from error
    assert isinstance(found, _Answer)
    return found


def _labelled(text: str) -> tuple[list[Json], Json, str | None, Json] | None:
    """Returns the moves, ratings and reason of labelled text, None if no label names a move."""
    plain = text.translate({ord(mark): None for mark in "*`"})
    labels = list(_MOVE_LABEL.finditer(plain))
    if not labels:
        return None
    moves = [plain[label.end() :].lstrip().split("\n", 1)[0].strip() for label in labels]
    # On one line with what follows, a move ends where the next label begins.
    moves = [re.split(_MOVE_LABEL, _RATINGS_LABEL.split(move)[0])[0].strip() for move in moves]
    before = plain[: labels[0].start()]
    marks = list(_RATINGS_LABEL.finditer(before))
    end = marks[-1].start() if marks else len(before)
    rated = [[int(number), value] for number, value in _ENTRY.findall(before[marks[-1].end() :])] if marks else None
    reason = _REASON_LABEL.search(before)
    return moves, rated, before[reason.end() : end].strip() if reason is not None else None, None


def _pairs(ratings: Json, dropped: Counter[str]) -> Iterable[tuple[Json, Json]]:
    """Returns what is rated and how, from an object, a list of pairs or objects, or numbers in the moves' order."""
    if ratings is None:
        return
    if isinstance(ratings, _Answer):
        yield from [*ratings.items(), *((key, value) for key in ratings for value in ratings.again((key,)))]
        return
    if not isinstance(ratings, list):
        dropped["ratings: no list of them"] += 1
        return
    for number, one in enumerate(ratings):
        if isinstance(one, dict):
            yield one.get("action", one.get("move")), one.get("rating")
        elif isinstance(one, list) and len(one) == 2:
            yield one[0], one[1]
        else:
            yield number, one


def _rated(
    pairs: Iterable[tuple[Json, Json]], legal: Sequence[Action], own: OwnNotations, dropped: Counter[str]
) -> tuple[Rating, ...]:
    found: dict[Action, list[float]] = {}
    for move, said in pairs:
        try:
            action = move_of(move, legal, own)
        except AgentFailure:
            dropped["rating: unknown move"] += 1
            continue
        rating = _rating(said)
        if rating is None:
            dropped["rating: no number"] += 1
        elif not -1 <= rating <= 1:
            dropped["rating: not from -1 to 1"] += 1
        else:
            found.setdefault(action, []).append(rating)
    for action, values in list(found.items()):
        if len(set(values)) > 1:
            dropped["rating: two for one move"] += len(values)
            del found[action]
    return tuple((action, found[action][0] if action in found else None) for action in legal)


def _rating(said: Json) -> float | None:
    if isinstance(said, str):
        said = said.strip().strip("\"'.").replace("−", "-")
        try:
            said = float(said)
        except ValueError:
            return None
    if isinstance(said, bool) or not isinstance(said, int | float) or said != said:
        return None
    return float(max(-_FAR, min(_FAR, said)))


def _whole(value: Json) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}\s*", value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _FAR or int(value) != value:
        return None
    return int(value)


def _said(moves: Sequence[Json]) -> str:
    return f"the answer names two moves, {' and '.join(map(_shown, moves))}" if moves else "the answer names no move"


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
