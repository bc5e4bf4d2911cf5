"""Who won, the score, and the return (the Yōkai paper, Eq. 1 and 4)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from games.yokai.grid import Grid

NOT_OVER_REWARD: Final = 0.0


def colour_words(grid: Grid, state: Mapping[str, Any]) -> list[int]:
    """Returns one bit word of cells for each colour that has been dealt."""
    bits = grid.bits
    words: dict[str, int] = {}
    for colour, (row, column) in zip(state["colours"], state["positions"], strict=True):
        words[colour] = words.get(colour, 0) | bits[row][column]
    words.pop(None, None)  # type: ignore[call-overload]
    return list(words.values())


def grouped_colours(grid: Grid, words: Iterable[int]) -> int:
    """Returns how many colours have all their cards in one side-connected group."""
    return sum(grid.is_connected(word) for word in words)


def hint_counts(state: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Returns the numbers of hints that are face down, face up, placed right and placed wrong."""
    down = up = right = wrong = 0
    colours = state["colours"]
    for hint in state["hints"]:
        if hint["status"] == "face down":
            down += 1
        elif hint["status"] == "face up":
            up += 1
        elif colours[hint["card"]] in hint["colours"]:
            right += 1
        else:
            wrong += 1
    return down, up, right, wrong


def win_score(down: int, up: int, right: int, wrong: int) -> int:
    """Returns what a win is worth, S."""
    return 5 * down + 2 * up + right - wrong


def total_reward(won: bool, ended_early: bool, missing: int, counts: tuple[int, int, int, int]) -> int:
    """Returns what every player is paid at the end.

    Args:
        won: all colours are grouped.
        ended_early: the last action was `end`.
        missing: colours that are not in one group.
        counts: see `hint_counts`.
    """
    return win_score(*counts) if won else -int(ended_early) - missing - counts[3]


def final_reward(grid: Grid, state: Mapping[str, Any], colours: int) -> float:
    """Returns what every player is paid by the action that led to `state`: 0.0 unless the game is over."""
    if state["phase"] != "over":
        return NOT_OVER_REWARD
    missing = colours - grouped_colours(grid, colour_words(grid, state))
    return float(total_reward(not missing, state["log"][-1] == "end", missing, hint_counts(state)))


def outcome(grid: Grid, state: Mapping[str, Any], colours: int) -> dict[str, Any]:
    """Returns the figures from which the metrics are built; before the end, those of the position as it stands.

    Returns:
        `over`, `won`, `ended_early`, `score` (S, what a win is worth), `return` (the paper's Eq. 4), `length` (actions
        of players), `grouped_colours`, and the hints `face_down`, `face_up`, `correct` and `wrong`.
    """
    grouped = grouped_colours(grid, colour_words(grid, state))
    counts = hint_counts(state)
    early = bool(state["log"]) and state["log"][-1] == "end"
    return {
        "over": state["phase"] == "over",
        "won": grouped == colours,
        "ended_early": early,
        "score": float(win_score(*counts)),
        "return": float(total_reward(grouped == colours, early, colours - grouped, counts)),
        "length": len(state["log"]),
        "grouped_colours": grouped,
        "face_down": counts[0],
        "face_up": counts[1],
        "correct": counts[2],
        "wrong": counts[3],
    }
