"""How people and language models may write the moves of Yōkai, beside the exact names of the actions."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.api import Action, Json

DESCRIPTION: Final = (
    "The words `card`, `hint`, `row`, `column`, `cell` and the brackets of a cell may be added, and small words like "
    '`to` and `at` left out: "move card 4 to row 2, column 5", "move 4 (2, 5)", ["move", 4, 2, 5] and '
    '["move", 4, [2, 5]] all mean `move 4 to 2,5`; "place hint 1 on (4, 4)" means `place 1 at 4,4`; "observe card 4" '
    'means `observe 4`; "reveal hint 1" means `reveal 1`; "end the game" means `end`.'
)

_FORMS: Final[Mapping[str, tuple[str, int]]] = {
    "observe": ("observe {}", 1),
    "move": ("move {} to {},{}", 3),
    "reveal": ("reveal {}", 1),
    "place": ("place {} at {},{}", 3),
    "no op": ("no-op", 0),
    "end": ("end", 0),
}
_FILLERS: Final = frozenset({"card", "hint", "row", "column", "col", "cell", "to", "at", "on", "the", "game"})
_PART: Final = re.compile(r"\d+|[a-z]+")


def candidates(move: Json) -> Sequence[Action]:
    """Returns the one action that a move names, legal or not, () if it names none."""
    parts = _PART.findall(_flat(move).casefold())
    verb = " ".join(part for part in parts if part.isalpha() and part not in _FILLERS)
    numbers = [part.lstrip("0") or "0" for part in parts if part.isdecimal()]
    form, count = _FORMS.get(verb, ("", -1))
    return (form.format(*numbers),) if len(numbers) == count else ()


def _flat(move: Json) -> str:
    return " ".join(_flat(part) for part in move) if isinstance(move, list) else str(move)


def _parts(action: Action) -> tuple[str, list[int]]:
    words = re.findall(r"[a-z-]+", action)
    return words[0], [int(number) for number in re.findall(r"\d+", action)]


def _in_words(action: Action) -> Json:
    verb, numbers = _parts(action)
    if verb in ("move", "place"):
        kind, link = ("card", "to") if verb == "move" else ("hint", "on")
        return f"{verb.capitalize()} {kind} {numbers[0]} {link} row {numbers[1]}, column {numbers[2]}"
    if verb in ("observe", "reveal"):
        return f"{verb.capitalize()} {'card' if verb == 'observe' else 'hint'} {numbers[0]}"
    return "End the game" if verb == "end" else "No op"


def _with_brackets(action: Action) -> Json:
    verb, numbers = _parts(action)
    return f"{verb} {numbers[0]} ({numbers[1]}, {numbers[2]})" if len(numbers) == 3 else action


def _as_list(action: Action) -> Json:
    verb, numbers = _parts(action)
    return [verb, *numbers]


def _as_nested_list(action: Action) -> Json:
    verb, numbers = _parts(action)
    return [verb, numbers[0], numbers[1:]] if len(numbers) == 3 else [verb, *numbers]


WRITERS: Final[Mapping[str, Callable[[Action], Json]]] = {
    "in words": _in_words,
    "with brackets": _with_brackets,
    "as a list": _as_list,
    "as a nested list": _as_nested_list,
}
"""An action in each of the documented notations."""
