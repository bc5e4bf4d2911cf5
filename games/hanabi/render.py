"""Draws a table of Hanabi as text for people."""

from games.hanabi.reading import Slot, Table

UNKNOWN = "??"


def render(table: Table, phase: str, final_turns: int | None, player: int | None) -> str:
    """Returns fireworks, tokens, hands with what was told of each card, and discards.

    Args:
        table: the state.
        phase: `deal`, `play` or `over`.
        final_turns: turns left once the deck is empty, else None.
        player: who looks and does not see its own cards; None sees all.
    """
    piles = " ".join(f"{colour}{rank}" for colour, rank in table.fireworks.items())
    left = "" if final_turns is None else f", turns left {final_turns}"
    lines = [
        f"fireworks {piles}, points {sum(table.fireworks.values())}",
        f"information {table.info}, lives {table.lives}, deck {table.deck_size}{left}",
    ]
    for seat, hand in enumerate(table.hands):
        mark = " *" if table.mover == seat and phase == "play" else ""
        cards = "  ".join(_card(slot, seat != player) for slot in hand)
        lines.append(f"player_{seat}{mark}: {cards or '-'}")
    lines.append(f"discards {' '.join(table.discards) or '-'}")
    return "\n".join(lines)


def _card(slot: Slot, shown: bool) -> str:
    told = f"{slot.told_colour or ''}{slot.told_rank or ''}"
    return f"{slot.card if shown else UNKNOWN}({told})" if told else slot.card if shown else UNKNOWN
