"""What people at the terminal are told of Yōkai: the others' turns, what a win is worth, how the result came about."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from games.api import Observation
from games.yokai.config import ACTIONS_PER_TURN

COLOURS: Final = {
    r"\[?\br\d+\b\]?|\bred\b": "red",
    r"\[?\bg\d+\b\]?|\bgreen\b": "green",
    r"\[?\bb\d+\b\]?|\bblue\b": "blue",
    r"\[?\by\d+\b\]?|\byellow\b": "yellow",
}
"""Style of each piece of a drawing, by regular expression."""


def note(view: str) -> str:
    """Returns what a player is told once, "" in the view that remembers."""
    if view == "memory":
        return ""
    return "A colour that you observe is shown until your turn ends, and then never again: remember it."


def told(now: Observation, names: Sequence[str]) -> list[str]:
    """Returns a sentence for each turn of the others since the player's own, [] but at the start of a turn.

    Args:
        now: the player's view.
        names: of all players.
    """
    players, turn = len(names), now["turn"]
    if now["sub_step"] != 1:
        return []
    first = max(0, turn - players)
    actions = now["recent_actions"]
    sentences = []
    for number in range(first, turn):
        done = actions[(number - first) * ACTIONS_PER_TURN :][:ACTIONS_PER_TURN]
        if number % players != now["you"]:
            sentences.append(f"{names[number % players]} {', '.join(_done(done, now['hints']))}.")
    return sentences


def _done(actions: Sequence[str], hints: Sequence[Mapping[str, Any]]) -> list[str]:
    observed = [action.removeprefix("observe ") for action in actions if action.startswith("observe ")]
    parts = [f"observed {' and '.join(observed)}"] if observed else []
    for action in actions:
        numbers = re.findall(r"\d+", action)
        if action.startswith("move"):
            parts.append(f"moved {numbers[0]} to {numbers[1]},{numbers[2]}")
        elif action.startswith("reveal"):
            parts.append(f"revealed hint {numbers[0]} ({_colours(hints[int(numbers[0])])})")
        elif action.startswith("place"):
            hint = hints[int(numbers[0])]
            parts.append(f"placed {_colours(hint)} on {hint['card']}")
    return parts or ["did nothing"]


def _colours(hint: Mapping[str, Any]) -> str:
    return "-".join(hint["colours"] or ["?"])


def drawing(text: str) -> str:
    """Returns the game's drawing in fewer lines: rows far from any card and the latest actions left out."""
    lines = [line for line in text.splitlines() if not line.startswith("Latest actions")]
    rows = [number for number, line in enumerate(lines) if re.match(r" ?\d+  ", line) and number > 1]
    used = [number for number in rows if re.search(r"[?rgby]\d", lines[number])]
    hints = [line.removeprefix("Hint ") for line in lines if line.startswith("Hint ")]
    if used:
        lines = [
            line for number, line in enumerate(lines) if number not in rows or used[0] - 1 <= number <= used[-1] + 1
        ]
    kept = [line for line in lines if not line.startswith("Hint ")]
    return "\n".join([*kept, "Hints: " + "; ".join(hints)])


def standing(now: Observation) -> str:
    """Returns what a win would be worth, as far as the player knows."""
    kinds = [hint["status"] for hint in now["hints"]]
    down, up, placed = (kinds.count(kind) for kind in ("face down", "face up", "placed"))
    sure = 5 * down + 2 * up
    worth = f"{sure - placed} to {sure + placed}" if placed else str(sure)
    return (
        f"A win now is worth {worth}: 5 for each of {down} hints face down, 2 for each of "
        f"{up} face up, 1 more or less for each of {placed} placed, as it is right or wrong."
    )


def breakdown(end: Mapping[str, Any]) -> str:
    """Returns how the result came about, from the game's own account of its end."""
    if end["won"]:
        return (
            f"All colours lie together: {end['face_down']} hints face down × 5 + {end['face_up']} face up × 2 "
            f"+ {end['correct']} placed right − {end['wrong']} placed wrong = {end['score']:g}."
        )
    early = int(end["ended_early"])
    missing = -int(end["return"]) - early - end["wrong"]
    return (
        f"{missing} colours do not lie together: −{missing}, ended early: −{early}, "
        f"{end['wrong']} hints placed wrong: −{end['wrong']}; together {end['return']:g}."
    )
