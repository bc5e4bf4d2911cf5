"""How people and language models may write the moves of the small chess, beside the exact names of the actions."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.api import Action, Json

DESCRIPTION: Final = (
    "Between the two squares of a move, `_to_` may be left out or written in another way: "
    '"A2C2", "A2-C2", "A2 to C2", "A2xC2", "A2->C2" and ["A2", "C2"] all mean `A2_to_C2`.'
)

_MOVE: Final = re.compile(r"(?:move )?([a-e][1-5])(?:_to_| to |\s*(?:-|->|→|x|,)\s*|\s+|)([a-e][1-5])")


def candidates(move: Json) -> Sequence[Action]:
    """Returns the one action that a move names, legal or not, () if it names none."""
    text = " ".join(map(str, move)) if isinstance(move, list) else str(move)
    match = _MOVE.fullmatch(text.casefold().strip())
    return (f"{match[1].upper()}_to_{match[2].upper()}",) if match else ()


def _joined(link: str) -> Callable[[Action], Json]:
    return lambda action: action.replace("_to_", link)


WRITERS: Final[Mapping[str, Callable[[Action], Json]]] = {
    "without a link": _joined(""),
    "with a hyphen": _joined("-"),
    "in words": _joined(" to "),
    "with a cross": _joined("x"),
    "with an arrow": _joined("->"),
    "as a list": lambda action: action.split("_to_"),
}
"""An action in each of the documented notations."""
