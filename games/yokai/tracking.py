"""Which colours a player of Yōkai has looked at, and how many of its own turns ago."""

from collections.abc import Mapping
from typing import Any

from games.api import ObsActionHistory
from games.tracking import Origin, Tracked, TrackedEvent, TrackedSlot
from games.yokai.config import COLOURS, config
from games.yokai.resample import known_colours


def tracked(history: ObsActionHistory) -> Tracked:
    """Returns what a player can know at its last decision point of the cards' colours; a slot is a card by its id.

    Of other players nothing is tracked: who looked at a card is open, its colour is not.

    Args:
        history: its own decision points in either view, oldest first.
    """
    views = [shown for shown, _ in history]
    player, players = views[-1]["you"], len(views[-1]["observed"])
    sizes = config(len(views[-1]["colours"]), players)
    letters = "".join(colour[0].upper() for colour in COLOURS if colour in sizes.colours)
    last = len(views) - 1
    first = [
        next((number for number, shown in enumerate(views) if shown["colours"][card] is not None), None)
        for card in range(sizes.cards)
    ]
    known = [None if colour is None else colour[0].upper() for colour in known_colours(sizes, views)]
    fresh = [card for card in range(sizes.cards) if first[card] == last]

    def slot(card: int, until: int) -> TrackedSlot:
        seen, letter = first[card], known[card]
        if seen is None or letter is None or seen > until:
            return TrackedSlot(card, letters, "")
        origin = Origin(last - seen, True, fresh.index(card) if seen == last else None)
        return TrackedSlot(card, letter, "", {other: origin for other in letters if other != letter})

    def hands(until: int) -> tuple[tuple[TrackedSlot, ...], ...]:
        own = tuple(slot(card, until) for card in range(sizes.cards))
        return tuple(own if seat == player else () for seat in range(players))

    events = tuple(TrackedEvent(player, known[card] or "", (card,)) for card in fresh)
    return Tracked(player, hands(last), hands(last - 1), events, letters, "")


def held(state: Mapping[str, Any]) -> list[list[str]]:
    """Returns what every tracked slot holds in truth, the values of one card together.

    Args:
        state: as JSON.
    """
    colours = [(colour or " ")[0].upper().strip() for colour in state["colours"]]
    return [colours for _ in state["observed"]]
