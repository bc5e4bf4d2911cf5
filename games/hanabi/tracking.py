"""What everybody can know of every card by hints, with the turn and the kind of hint that said so."""

from collections.abc import Mapping
from typing import Any

from games.api import ObsActionHistory
from games.hanabi.events import HINTED, parse
from games.hanabi.knowledge import Course
from games.hanabi.mind import sizes_of
from games.tracking import Origin, Tracked, TrackedEvent, TrackedSlot

_Known = dict[int, dict[str, tuple[int, bool, int]]]
"""By card and value ruled out: own decisions before, whether the card was named, number of the event in its gap."""


def tracked(history: ObsActionHistory) -> Tracked:
    """Returns what all can know at a player's last decision point.

    Args:
        history: its own decision points in any view, oldest first.
    """
    sizes = sizes_of(history)
    course, known = Course(sizes), _Known()
    last = len(history) - 1
    before = _hands(course, known, -1)
    events: list[TrackedEvent] = []
    for number, (shown, _) in enumerate(history):
        if number == last:
            before = _hands(course, known, last)
        for place, event in enumerate(shown["recent"]):
            _note(course, known, event, (number, place))
            if number == last:
                events.append(_event(course, event))
            else:
                course.follow(event)
    now = _hands(course, known, last)
    ranks = "".join(map(str, range(1, sizes.ranks + 1)))
    return Tracked(history[-1][0]["player"], now, before, tuple(events), sizes.letters, ranks)


def _note(course: Course, known: _Known, event: Mapping[str, Any], where: tuple[int, int]) -> None:
    """Notes which values a hint rules out, before the course follows it."""
    if event["result"] != HINTED:
        return
    value = parse(event["action"]).value
    for slot, card in enumerate(course.hands[event["to"]]):
        touched = slot in event["slots"]
        mask = card.ranks if value.isdigit() else card.colours
        gone = mask.replace(value, "") if touched else value if value in mask else ""
        for one in gone:
            known.setdefault(card.number, {})[one] = (where[0], touched, where[1])


def _event(course: Course, event: Mapping[str, Any]) -> TrackedEvent:
    """Lets the course follow a move and returns what it did to a hand."""
    dealt = course.follow(event)
    if event["result"] == HINTED:
        return TrackedEvent(event["to"], parse(event["action"]).value, tuple(event["slots"]))
    return TrackedEvent(event["player"], "", tuple(event["slots"]), dealt)


def _hands(course: Course, known: _Known, last: int) -> tuple[tuple[TrackedSlot, ...], ...]:
    def origin(number: int, told: bool, place: int) -> Origin:
        return Origin(last - number, told, place if number == last else None)

    return tuple(
        tuple(
            TrackedSlot(
                card.number,
                card.colours,
                card.ranks,
                {value: origin(*how) for value, how in known.get(card.number, {}).items()},
            )
            for card in hand
        )
        for hand in course.hands
    )


def held(state: Mapping[str, Any]) -> list[list[str]]:
    """Returns what every tracked slot holds in truth, the values of one card together.

    Args:
        state: as JSON.
    """
    return [[slot["card"] for slot in hand] for hand in state["hands"]]
