"""The CWM paper's figures, cell by cell, with what cannot be read in our copy marked as such.

`copy.json` holds the rows of the tables as they stand in our text copy of the paper: one word a column, in the paper's
order. The copy was made by reading page images: points were lost, numbers ran together, counts in small print became
letters. Nothing is mended there. `?` stands where the copy shows nothing in a column's place; two numbers of three
digits that ran together stand apart; the rules under a row's last words are left out.

A number is read if it stands there whole. Where only its decimal point is lost (`093`), it is taken for what the digits
say if the row's own arithmetic confirms it: win, loss and draw sum to 1, or the other player of a zero-sum game is
paid the opposite and that stands there whole. Everything else is unreadable; nothing is guessed.
"""

import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final, Literal, TypeAlias

from arena.papers.cwm.published.games import BY_ID
from arena.papers.cwm.published.layout import TABLE_BY_NUMBER, TableLayout

SOURCE: Final = (
    "The paper's numbers are those of its Tables 1 to 16 and 18 to 24, with Gemini 2.5 Pro as language model."
)
MATCHES: Final = 100
"""Matches behind each share of the paper's arena tables."""
UNREADABLE: Final = "[unreadable]"
POINT_LOST: Final = "†"
ABSENT: Final = "–"

State: TypeAlias = Literal["read", "confirmed", "unreadable", "absent"]
"""`confirmed`: the decimal point is lost, and the row's arithmetic says where it was; `absent`: the paper has no such
cell."""

COPY: Final[dict[str, Any]] = json.loads(resources.files(__package__).joinpath("copy.json").read_text(encoding="utf-8"))
"""The rows as words; its `about` says what the columns are."""
_WHOLE = re.compile(r"-?\d+\.\d{2}")
_ACCURACY = re.compile(r"\d+\.\d+")
_DIGITS = re.compile(r"-?(?:0\d\d|[1-9]\d{2,})")
_SHARE = re.compile(r"[01]\d\d")
_OF_COUNT = re.compile(r"\((\d+)/(\d+)\)")
_COUNT = re.compile(r"\((\d+)\)")


@dataclass(frozen=True)
class Published:
    """One cell of the paper.

    Attributes:
        state: whether it can be read.
        value: the number, None for words and for what cannot be read.
        words: the cell as text: the number as printed, `2/100`, or a word; "" if it cannot be read.
        copy: what our copy of the paper shows in its place.
    """

    state: State
    value: float | None
    words: str
    copy: str

    @property
    def shown(self) -> str:
        """Returns the cell as a reader sees it."""
        if self.state == "unreadable":
            return UNREADABLE
        if self.state == "absent":
            return ABSENT
        return self.words + (POINT_LOST if self.state == "confirmed" else "")


def cell(table: int, game: str, seat: int | None, column: str) -> Published:
    """Returns a cell.

    Args:
        table: the paper's number.
        game: our id.
        seat: of the agent in question, None in tables without seats.
        column: see `Column.key`.

    Raises:
        KeyError: there is no such cell in the table's layout.
    """
    layout = TABLE_BY_NUMBER[table]
    if (game, seat) not in layout.rows():
        raise KeyError(f"Table {table} has no row for {game}, seat {seat}.")
    return _row(layout, game, seat)[column]


def _row(layout: TableLayout, game: str, seat: int | None) -> dict[str, Published]:
    keys = [column.key for column in layout.columns]
    words = _words(layout, game, seat)
    if words is None:
        return {key: Published("unreadable", None, "", "") for key in keys}
    raw = dict(zip(keys, words.split(), strict=True))
    if layout.kind == "details":
        return {key: _detail(game, key, word) for key, word in raw.items()}
    if layout.kind == "accuracy":
        return {key: _number(word, _ACCURACY) for key, word in raw.items()}
    groups: dict[str, dict[str, str]] = {}
    for key, word in raw.items():
        opponent, _, name = key.partition(".")
        groups.setdefault(opponent, {})[name] = word
    read = _outcomes if layout.kind == "outcomes" else _sides
    return {
        f"{opponent}.{name}": found
        for opponent, group in groups.items()
        for name, found in read(group, BY_ID[game].zero_sum and layout.kind == "payoffs").items()
    }


def _words(layout: TableLayout, game: str, seat: int | None) -> str | None:
    """Returns the words of a row, None if our copy has lost the row."""
    words: str | None
    if layout.kind == "details":
        words = COPY["details"][game]
    elif layout.kind == "accuracy":
        words = COPY["accuracy"][str(layout.number)][game]
    else:
        words = COPY["seats"][str(layout.number)].get(game, (None, None))[seat or 0]
    return words


def _detail(game: str, key: str, word: str) -> Published:
    if word != "?":
        return Published("read", float(word) if word.isdecimal() else None, word, word)
    # Where nothing is hidden, an information state has no size of its own, and the paper leaves the place empty.
    absent = key == "information" and not BY_ID[game].hidden
    return Published("absent" if absent else "unreadable", None, "", "")


def _number(word: str, whole: re.Pattern[str]) -> Published:
    if whole.fullmatch(word):
        return Published("read", float(word), word, word)
    return Published("unreadable", None, "", "" if word == "?" else word)


def _digits(word: str, lost: re.Pattern[str] = _DIGITS) -> str | None:
    """Returns a number with two decimals whose point may be lost, None if it is none."""
    if _WHOLE.fullmatch(word):
        return word
    return f"{word[:-2]}.{word[-2:]}" if lost.fullmatch(word) else None


def _outcomes(group: dict[str, str], _: bool) -> dict[str, Published]:
    """Reads win, loss and draw against one opponent, and the counts in small print beside them."""
    names = ("win", "loss", "draw")
    digits = [_digits(group[name], _SHARE) for name in names]
    # Hundredths as whole numbers: shares of 100 matches sum to 100 exactly.
    confirmed = all(digits) and sum(round(100 * float(word or 0)) for word in digits) == MATCHES
    found: dict[str, Published] = {}
    for name, number in zip(names, digits, strict=True):
        found[name] = _confirmed(group[name], number) if confirmed else _number(group[name], _WHOLE)
        count = "draws" if name == "draw" else f"{name}_forfeits"
        if count in group:
            found[count] = _count(group[count], found[name].value, _COUNT if name == "draw" else _OF_COUNT)
    return found


def _confirmed(word: str, number: str | None) -> Published:
    assert number is not None  # all of the group can be read as digits
    return Published("read" if number == word else "confirmed", float(number), number, word)


def _count(word: str, share: float | None, pattern: re.Pattern[str]) -> Published:
    """Reads a count, if it is the share of the matches that stands beside it."""
    unreadable = Published("unreadable", None, "", "" if word == "?" else word)
    found = pattern.fullmatch(word)
    if found is None or share is None or any(str(int(part)) != part for part in found.groups()):
        return unreadable
    numbers = [int(part) for part in found.groups()]
    if numbers[-1] != round(share * MATCHES) or numbers[0] > numbers[-1]:
        return unreadable
    return Published("read", float(numbers[0]), "/".join(map(str, numbers)), word)


def _sides(group: dict[str, str], zero_sum: bool) -> dict[str, Published]:
    """Reads what either player was paid."""
    found = {name: _number(word, _WHOLE) for name, word in group.items()}
    for name, other in (("us", "them"), ("them", "us")):
        number, known = _digits(group[name]), found[other]
        if zero_sum and found[name].state == "unreadable" and number is not None and known.state == "read":
            assert known.value is not None  # it was read
            if float(number) == -known.value:
                found[name] = Published("confirmed", float(number), number, group[name])
    return found
