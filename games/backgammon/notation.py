"""How people and language models may write the moves of backgammon, beside the exact names of the actions."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from games.api import Action, Json

DESCRIPTION: Final = (
    "The two moves may stand in either order, with a comma or `and` between them or in a list; hits may be marked, a "
    'checker that moves twice may be written as one chain, and two equal moves with a number: "8/7, 13/7", '
    '["8/7", "13/7"] and "8/7* and 13/7" all mean `13/7 8/7`, "13/7/4" means `13/7 7/4`, "6/off(2)" means '
    '`6/off 6/off`, and "no move" means `pass`.'
)

_CHAIN: Final = re.compile(r"(?:bar|\d{1,2})(?:/(?:off|\d{1,2})\*?)+(?:\((?:1|2)\))?")
_POINT: Final = re.compile(r"bar|off|\d+")
_BAR: Final = 25
_OFF: Final = 0


def candidates(move: Json) -> Sequence[Action]:
    """Returns the one action that a move names, legal or not, () if it names none."""
    text = " ".join(map(str, move)) if isinstance(move, list) else str(move)
    words = [word for word in re.split(r"[\s,;]+", text.casefold()) if word not in ("", "and", "then")]
    if words in (["pass"], ["no", "move"], ["no", "moves"]):
        return ("pass",)
    if not words or not all(_CHAIN.fullmatch(word) for word in words):
        return ()
    moves = [move for word in words for move in _moves(word)]
    ordered = sorted(moves, key=lambda ends: (_height(ends[0]), _height(ends[1])), reverse=True)
    return (" ".join(f"{start}/{end}" for start, end in ordered),)


def _moves(chain: str) -> list[tuple[str, str]]:
    points = _POINT.findall(chain.partition("(")[0])
    return list(itertools.pairwise(points)) * (2 if chain.endswith("(2)") else 1)


def _height(point: str) -> int:
    return _BAR if point == "bar" else _OFF if point == "off" else int(point)


def _backwards(action: Action) -> list[str]:
    return action.split()[::-1]


def _as_chain(action: Action) -> Json:
    moves = action.split()
    if len(moves) == 2 and moves[0] == moves[1]:
        return f"{moves[0]}(2)"
    if len(moves) == 2 and moves[0].split("/")[1] == moves[1].split("/")[0]:
        return f"{moves[0]}/{moves[1].split('/')[1]}"
    return action


WRITERS: Final[Mapping[str, Callable[[Action], Json]]] = {
    "in the other order": lambda action: ", ".join(_backwards(action)),
    "with and": lambda action: " and ".join(_backwards(action)),
    "as a list": _backwards,
    "as a chain": _as_chain,
    "with hits": lambda action: re.sub(r"(\d)(?= |$)", r"\1*", action),
    "no move": lambda action: "no move" if action == "pass" else action,
}
"""An action in each of the documented notations."""
