"""What tables tell of the course of a game beside its outcome."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from games.api import Action, State
from games.hanabi.events import parse
from games.hanabi.reading import Slot, Table, read

SCORES: Final = ("points", "strict")
"""What of the outcome is a score: points kept after a third bomb, and none then."""
NAMES: Final = ("lives left", "bombs", "hints", "hints that told nothing", "plays known wrong")
"""Of `course`: lives at the end; failed plays; hints given, and those after which all was possible that was before;
plays of cards of which hints had said that they could not fit."""


def course(moves: Sequence[tuple[State, Action]], end: State) -> Mapping[str, float]:
    """Returns each of `NAMES` in a game.

    Args:
        moves: of players and chance: the state before, and the action.
        end: the last state.
    """
    counts = dict.fromkeys(NAMES, 0.0)
    counts["lives left"] = float(read(str(end)).lives)
    states: list[Any] = [*(state for state, _ in moves), end]
    for number, (_, action) in enumerate(moves):
        before, after = read(str(states[number])), read(str(states[number + 1]))
        if before.mover is None:
            continue
        parsed = parse(action)
        if parsed.kind == "Reveal":
            to = (before.mover + parsed.offset) % len(before.hands)
            counts["hints"] += 1
            counts["hints that told nothing"] += _possible(before.hands[to]) == _possible(after.hands[to])
        elif parsed.kind == "Play":
            counts["bombs"] += after.lives < before.lives
            counts["plays known wrong"] += not _may_fit(before, before.hands[before.mover][parsed.slot])
    return counts


def _possible(hand: Sequence[Slot]) -> list[tuple[str, str]]:
    return [(slot.colours, slot.ranks) for slot in hand]


def _may_fit(table: Table, slot: Slot) -> bool:
    """Tells whether hints leave it possible that a card is the next of a firework."""
    return any(str(table.fireworks[colour] + 1) in slot.ranks for colour in slot.colours)
