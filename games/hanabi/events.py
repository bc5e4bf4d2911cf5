"""What everybody sees of a move: one event each, from the states before and after it."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from games.api import Action, Json
from games.hanabi.reading import Table

PLAYED: Final = "played"
FAILED: Final = "failed"
DISCARDED: Final = "discarded"
HINTED: Final = "hinted"

_OWN: Final = re.compile(r"\((Play|Discard) (\d+)\)")
_HINT: Final = re.compile(r"\(Reveal player \+(\d) (?:color|rank) (\w)\)")


class Parsed(NamedTuple):
    """A player's action, taken apart.

    Attributes:
        kind: `Play`, `Discard` or `Reveal`.
        slot: which own card, -1 for a hint.
        offset: how many seats on the hinted player sits, 0 for an own card.
        value: a colour's letter or a rank's digit, "" for an own card.
    """

    kind: str
    slot: int
    offset: int
    value: str


@lru_cache(maxsize=256)
def parse(action: Action) -> Parsed:
    """Returns the parts of a player's action; one of another form is a mistake of the caller."""
    own = _OWN.fullmatch(action)
    if own is not None:
        return Parsed(own[1], int(own[2]), 0, "")
    hint = _HINT.fullmatch(action)
    if hint is None:
        raise ValueError(f"{action!r} is no action of a player of Hanabi.")
    return Parsed("Reveal", -1, int(hint[1]), hint[2])


def event(player: int, action: Action, before: Table, after: Table) -> dict[str, Json]:
    """Returns what everybody sees of a move, as in `RULES.md`.

    Args:
        player: who moved.
        action: what it did.
        before: the table then.
        after: the table right after the move, before chance deals a card.
    """
    parsed = parse(action)
    card, to = None, None
    if parsed.kind == "Reveal":
        result, to = HINTED, (player + parsed.offset) % len(before.hands)
        slots = [number for number, slot in enumerate(before.hands[to]) if parsed.value in slot.card]
    else:
        slots, card = [parsed.slot], before.hands[player][parsed.slot].card
        result = DISCARDED
        if parsed.kind == "Play":
            result = PLAYED if after.fireworks != before.fireworks else FAILED
    return {
        "player": player,
        "action": action,
        "card": card,
        "result": result,
        "to": to,
        "slots": slots,
        "lives": after.lives,
        "info": after.info,
        "fireworks": dict(after.fireworks),
    }
