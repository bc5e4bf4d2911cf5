"""A hand-written estimate of the return for planners on the true game. It looks at the whole state.

What may still be played, bounded by the turns that are left, less what a lost last life would take away.
"""

from typing import Final

from games.hanabi.config import HanabiSizes
from games.hanabi.reading import Table

PLAYS_A_TURN: Final = 0.48
"""Cards that players who hint well play in a turn, the last round aside."""
SHARE: Final = 0.93
"""Of what could still be played, what they play at most."""
PER_TOKEN: Final = 0.08
PER_KNOWN: Final = 0.35
"""What an information token, and a playable card of which a hint has told something, is worth."""
LOSS: Final = {1: 0.16, 2: 0.05}
"""How likely the last life is to be lost, by lives left."""
SURE_LOSS: Final = 0.02


def value(table: Table, sizes: HanabiSizes, final_turns: int | None) -> float:
    """Returns the expected sum of the rewards after a state that is not the end.

    Args:
        table: as the state says.
        sizes: of the game.
        final_turns: turns left once the deck is empty, else None.
    """
    points = sum(table.fireworks.values())
    reachable = sum(_reach(table, sizes, colour) - top for colour, top in table.fireworks.items())
    if not reachable:
        return 0.0
    turns = table.deck_size + sizes.players if final_turns is None else final_turns
    known = sum(
        table.fireworks[slot.card[0]] + 1 == int(slot.card[1]) and (slot.told_colour or slot.told_rank) is not None
        for hand in table.hands
        for slot in hand
    )
    coming = PLAYS_A_TURN * turns + PER_TOKEN * table.info + PER_KNOWN * known
    coming = min(coming, SHARE * reachable, turns)
    loss = LOSS.get(table.lives, SURE_LOSS)
    return coming * (1 - loss) - points * loss


def _reach(table: Table, sizes: HanabiSizes, colour: str) -> int:
    """Returns the highest rank that the firework of a colour can still reach."""
    rank = table.fireworks[colour] + 1
    while rank <= sizes.ranks and table.discards.count(f"{colour}{rank}") < sizes.copies(rank):
        rank += 1
    return rank - 1
