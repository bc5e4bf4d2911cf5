"""What people are told of Hanabi in words: the others' moves, and what a player does not see."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from games.api import Observation, State
from games.hanabi.events import DISCARDED, HINTED, PLAYED, parse

COLOURS: Final = {
    r"\bR\d?\b": "red",
    r"\bY\d?\b": "yellow",
    r"\bG\d?\b": "green",
    r"\bW\d?\b": "bold",
    r"\bB\d?\b": "blue",
}
"""Style of each piece of a drawing, by regular expression."""
_NAMES: Final = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}


def note(view: str) -> str:
    """Returns what a player is told once."""
    return (
        "You do not see your own cards, all others do. Slots are numbered from 0, the oldest card; +1 sits next to you."
    )


def told(now: Observation, names: Sequence[str]) -> list[str]:
    """Returns a sentence for each move of the others since the player's own.

    Args:
        now: the player's view.
        names: of all players.
    """
    return [said(event, names) for event in now["recent"] if event["player"] != now["player"]]


def said(event: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns a move in words that hold nothing but what everybody knows.

    Args:
        event: of the move.
        names: of all players.
    """
    who = names[event["player"]]
    if event["result"] == HINTED:
        value = parse(event["action"]).value
        slots = [str(slot) for slot in event["slots"]]
        where = f"slot {slots[0]}" if len(slots) == 1 else f"slots {', '.join(slots[:-1])} and {slots[-1]}"
        return f"{who} tells {names[event['to']]} of {_NAMES.get(value, value)}: {where}."
    if event["result"] == DISCARDED:
        return f"{who} discards {event['card']}."
    return f"{who} plays {event['card']}{'' if event['result'] == PLAYED else ', which does not fit: a life is lost'}."


def in_public(state: State, names: Sequence[str]) -> str:
    """Returns the last move of a state in words that all players may know.

    Args:
        state: after the move.
        names: of all players.
    """
    return said(state.log[-1].event(), names)


def drawing(text: str) -> str:
    """Returns the game's drawing as it is."""
    return text


def standing(now: Observation) -> str:
    """Returns what lies on the table, and what may be lost."""
    points, lives = sum(now["fireworks"].values()), now["life_tokens"]
    return f"Points so far: {points}, lives left: {lives}; once all lives are lost, points count nothing."


def breakdown(end: Mapping[str, Any]) -> str:
    """Returns how the result came about, from the game's own account of its end."""
    if end["bombed"]:
        return f"The last life was lost: {end['points']} points lay on the table, and count nothing."
    return f"{end['points']} points, with {end['lives']} of the lives left."
