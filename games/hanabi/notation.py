"""How people and language models may write the moves of Hanabi, beside the exact names of the actions."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.api import Action, Json
from games.card_names import flat
from games.hanabi.config import COLOURS, discard, hint, play
from games.hanabi.events import parse

DESCRIPTION: Final = (
    'Brackets may be left out, and hints written with the seats on first: "play 2" and "play slot 2" mean `(Play 2)`, '
    '"discard 0" means `(Discard 0)`, "hint +1 red" and "hint +1 R" mean `(Reveal player +1 color R)`, "hint +1 3" '
    "means `(Reveal player +1 rank 3)`."
)

_NAMES: Final = ("red", "yellow", "green", "white", "blue")
_OWN: Final = re.compile(r"(play|discard)(?: slot| card)? (\d+)")
_HINT: Final = re.compile(r"(?:hint|reveal|tell)(?: player)? \+?([1-4])(?: colou?r| rank)? (\w+)")


def candidates(move: Json) -> Sequence[Action]:
    """Returns the one action that a move names, legal or not, () if it names none."""
    text = flat(move).lower().strip("() ")
    own = _OWN.fullmatch(text)
    if own is not None:
        return (play(int(own[2])) if own[1] == "play" else discard(int(own[2])),)
    told = _HINT.fullmatch(text)
    if told is None:
        return ()
    value = COLOURS[_NAMES.index(told[2])] if told[2] in _NAMES else told[2].upper()
    return (hint(int(told[1]), value),)


def _in_words(action: Action) -> Json:
    parsed = parse(action)
    if parsed.kind != "Reveal":
        return f"{parsed.kind.lower()} slot {parsed.slot}"
    value = parsed.value if parsed.value.isdigit() else _NAMES[COLOURS.index(parsed.value)]
    return f"hint +{parsed.offset} {value}"


def _short(action: Action) -> Json:
    parsed = parse(action)
    return f"hint +{parsed.offset} {parsed.value}" if parsed.offset else f"{parsed.kind} {parsed.slot}"


WRITERS: Final[Mapping[str, Callable[[Action], Json]]] = {"in words": _in_words, "short": _short}
"""An action in each of the documented notations."""
