"""How people and language models may write the moves of Hand of War, beside the exact names of the actions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.api import Action, Json
from games.card_names import cards, flat, in_words

DESCRIPTION: Final = (
    'The word `play` may be left out, and the card written in words or with a sign: "QH", "Q♥", "queen of hearts" and '
    '"play the queen of hearts" all mean `play QH`.'
)

_FILLERS: Final = frozenset({"play", "the", "card"})
_SIGNS: Final = {"S": "♠", "C": "♣", "D": "♦", "H": "♥"}


def candidates(move: Json) -> Sequence[Action]:
    """Returns the one action that a move names, legal or not, () if it names none."""
    found = cards(flat(move), _FILLERS)
    return (f"play {found[0].upper()}",) if len(found) == 1 else ()


WRITERS: Final[Mapping[str, Callable[[Action], Json]]] = {
    "card alone": lambda action: action.removeprefix("play "),
    "in words": lambda action: f"Play the {in_words(action.removeprefix('play '))}",
    "with a sign": lambda action: action[-2] + _SIGNS[action[-1]],
    "as a list": lambda action: ["play", action.removeprefix("play ")],
}
"""An action in each of the documented notations."""
