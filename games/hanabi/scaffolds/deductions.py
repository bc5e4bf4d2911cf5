"""Reads what a language model writes of what each player can know of its own cards."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from games.api import Json, ObsActionHistory
from games.hanabi.mind import sizes_of
from games.hanabi.scaffolds.facts import NAMES
from games.scaffolds import Slot

_OFFSET: Final = re.compile(r"(?:player\s*)?\+\s*(\d+)(?:'s hand)?")
_YOU: Final = ("you", "yours", "own", "your hand")
_EVERYTHING: Final = ("any", "all", "anything", "unknown")
_PHRASE: Final = re.compile(r"(colou?r|rank)s?\s*(?:could be|may be|can be|is one of|is|are|:|=)\s*([^;:.=]*)")
_NOT: Final = re.compile(r"\b(?:not|no|never|except|but)\b|n't\b")


def deduced(value: Json, history: ObsActionHistory) -> tuple[list[Slot], list[str]]:
    """Reads deductions: an object with `you` and `player+N`, each a list with an entry a card.

    An entry is `{"colours": "RY", "ranks": "123"}`, with letters or names, texts or lists; or a phrase such as
    `colour could be red, yellow; rank is 3`. A hand that cannot be read whole is left out, the others are kept.

    Returns:
        Player, card, colours and ranks of each card, by player; a reason for each hand that is left out.
    """
    if not isinstance(value, Mapping):
        return [], ["deduction: no object"]
    now, sizes = history[-1][0], sizes_of(history)
    me, hands = now["player"], now["hands"]
    digits = "".join(str(rank) for rank in range(1, sizes.ranks + 1))
    found: dict[int, list[Slot]] = {}
    problems: list[str] = []
    for key, entries in value.items():
        seat = _seat(str(key), me, len(hands))
        if seat is None or seat in found:
            problems.append("deduction: unknown player" if seat is None else "deduction: player named twice")
            continue
        try:
            found[seat] = list(_hand(entries, seat, len(hands[seat]), (sizes.letters, digits)))
        except ValueError as error:
            problems.append(f"deduction: {error}")
            found[seat] = []
    problems += ["deduction: player left out"] * (len(hands) - len(found))
    return [slot for seat in sorted(found) for slot in found[seat]], problems


def _seat(key: str, me: int, players: int) -> int | None:
    name = key.strip().casefold()
    if name in _YOU:
        return me
    offset = _OFFSET.fullmatch(name)
    return (me + int(offset[1])) % players if offset is not None and 0 < int(offset[1]) < players else None


def _hand(entries: Any, seat: int, cards: int, all_: tuple[str, str]) -> Iterator[Slot]:
    if isinstance(entries, Mapping):  # cards by name: {"card 0": …} in their order
        entries = list(entries.values())
    if not isinstance(entries, list):
        raise ValueError("no list of cards")
    if len(entries) != cards:
        raise ValueError("wrong number of cards")
    for number, entry in enumerate(entries):
        colours, ranks = _parts(entry)
        yield seat, number, _colours(colours, all_[0]), _ranks(ranks, all_[1])


def _parts(entry: Any) -> tuple[Any, Any]:
    if isinstance(entry, Mapping):
        colours = entry.get("colours", entry.get("colors", entry.get("colour", entry.get("color"))))
        return colours, entry.get("ranks", entry.get("rank"))
    if isinstance(entry, str):
        told = dict(_phrases(entry.casefold()))
        return told.get("colour"), told.get("rank")
    raise ValueError("unreadable card")


def _phrases(text: str) -> Iterator[tuple[str, str]]:
    if _NOT.search(text):  # what a card is not is no list of what it may be
        raise ValueError("unreadable card")
    for kind, said in _PHRASE.findall(text):
        yield "rank" if kind == "rank" else "colour", re.split(r"\brank|\bcolou?r", said)[0]


def _colours(said: Any, letters: str) -> str:
    words = _words(said)
    if words and all(word in _EVERYTHING for word in words):
        return letters
    meant = set[str]()
    for word in words:
        named = [letter for letter, name in NAMES.items() if name == word]
        meant.update(named or word.upper())
    if not meant or not meant <= set(letters):
        raise ValueError("unreadable card")
    return "".join(letter for letter in letters if letter in meant)


def _ranks(said: Any, digits: str) -> str:
    words = _words(said)
    if words and all(word in _EVERYTHING for word in words):
        return digits
    meant = {digit for word in words for digit in word}
    if not meant or not meant <= set(digits):
        raise ValueError("unreadable card")
    return "".join(sorted(meant))


def _words(said: Any) -> list[str]:
    if isinstance(said, list):
        return [word for one in said for word in _words(one)]
    if isinstance(said, int) and not isinstance(said, bool):
        return [str(said)]
    if not isinstance(said, str):
        raise ValueError("unreadable card")
    return [word for word in re.split(r"[\s,/|]+|\bor\b|\band\b", said.casefold().strip(" {}[]()")) if word]
