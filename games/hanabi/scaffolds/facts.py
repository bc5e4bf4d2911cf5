"""What the templates of scaffolds are given of a decision in Hanabi: only what the observations of one player hold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from games.api import ObsActionHistory
from games.hanabi.config import HanabiSizes
from games.hanabi.events import DISCARDED, FAILED, HINTED, PLAYED, parse
from games.hanabi.mind import sizes_of
from games.hanabi.resample import public_log

NAMES: Final[Mapping[str, str]] = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}


def values(
    player: int, history: ObsActionHistory, discards: bool = True, logged: int | None = None
) -> Mapping[str, Any]:
    """Returns what templates are given.

    Args:
        player: who is asked.
        history: its own decision points in the scaffold's view.
        discards: whether the discarded cards are told.
        logged: how many of the last moves `log` holds, None for all.

    Returns:
        `sizes`; `player`, `info`, `lives`, `deck`, `points`; `fireworks`, (letter, name, top) each; `discards`, None or
        (copies, colour, rank) each; `own` and `others`, hands as `_card` has their cards; `final`, None or `left` and
        `last`; `recent` and `log`, moves in words, since the own last one and since the beginning.
    """
    now, sizes = history[-1][0], sizes_of(history)
    hands = now["hands"]
    log = [_told(event, player) for event in public_log(history)]
    return {
        "sizes": _sizes(sizes),
        "player": player,
        "info": now["info_tokens"],
        "lives": now["life_tokens"],
        "deck": now["deck_size"],
        "points": sum(now["fireworks"].values()),
        "fireworks": [(colour, NAMES[colour], top) for colour, top in now["fireworks"].items()],
        "discards": _grouped(now["discards"], sizes) if discards else None,
        "own": [_card(slot, now["fireworks"]) for slot in hands[player]],
        "others": [
            {
                "player": seat,
                "offset": (seat - player) % len(hands),
                "cards": [_card(slot, now["fireworks"]) for slot in hands[seat]],
            }
            for seat in ((player + step) % len(hands) for step in range(1, len(hands)))
        ],
        "final": _final(now),
        "recent": [_told(event, player) for event in now["recent"]],
        "log": log if logged is None else log[-logged:],
    }


def _sizes(sizes: HanabiSizes) -> dict[str, Any]:
    return {
        "players": sizes.players,
        "colours": [(letter, NAMES[letter]) for letter in sizes.letters],
        "ranks": sizes.ranks,
        "hand": sizes.hand,
        "info": sizes.info,
        "lives": sizes.lives,
        "perfect": sizes.perfect,
        "cards": sum(sizes.deck().values()),
        "copies": [(rank, sizes.copies(rank)) for rank in range(1, sizes.ranks + 1)],
    }


def _card(slot: Mapping[str, Any], fireworks: Mapping[str, int]) -> dict[str, Any]:
    """Returns `card`; `told` (in words); `colours` and `ranks` still possible; `chances`; `playable`.

    What the view has not is None. `chances` are (card, per cent), the likeliest first; `playable` is the chance that
    the card can be played.
    """
    card = slot["card"]
    shown: dict[str, Any] = dict.fromkeys(("told", "colours", "ranks", "chances", "playable"))
    shown["card"] = None if card is None else f"{NAMES[card[0]]} {card[1]}"
    if "told_colour" in slot:
        told = [NAMES[slot["told_colour"]]] if slot["told_colour"] else []
        shown["told"] = " ".join([*told, *([str(slot["told_rank"])] if slot["told_rank"] else [])])
    if "colours" in slot:
        shown["colours"] = [NAMES[colour] for colour in slot["colours"]]
        shown["ranks"] = slot["ranks"]
    if "chances" in slot:
        chances = {card: Fraction(chance) for card, chance in slot["chances"].items()}
        ranked = sorted(chances.items(), key=lambda item: -item[1])
        shown["chances"] = [(f"{NAMES[card[0]]} {card[1]}", _percent(chance)) for card, chance in ranked]
        shown["playable"] = _percent(
            sum((chance for card, chance in ranked if fireworks[card[0]] + 1 == int(card[1])), Fraction())
        )
    return shown


def _percent(chance: Fraction) -> str:
    """Returns a chance in per cent to one digit, without one where it is whole."""
    return f"{float(chance * 100):.1f}".removesuffix(".0") + " %"


def _grouped(discards: Sequence[str], sizes: HanabiSizes) -> list[tuple[int, str, int]]:
    counts = Counter(discards)
    return [(counts[card], NAMES[card[0]], int(card[1])) for card in sizes.kinds() if counts[card]]


def _final(now: Mapping[str, Any]) -> dict[str, int] | None:
    left = now["final_turns"]
    if left is None:
        return None
    return {"left": left, "last": (now["player"] + left - 1) % len(now["hands"])}


def _told(event: Mapping[str, Any], player: int) -> str:
    """Returns a move in words, with what it left on the table."""
    mover, slots = event["player"], [str(slot) for slot in event["slots"]]
    who = "You" if mover == player else f"Player {mover}"
    card = "" if event["card"] is None else f"{NAMES[event['card'][0]]} {event['card'][1]}"
    if event["result"] == HINTED:
        value = parse(event["action"]).value
        what = f"rank {value}" if value.isdigit() else f"colour {NAMES[value]}"
        cards = f"card {slots[0]}" if len(slots) == 1 else f"cards {', '.join(slots[:-1])} and {slots[-1]}"
        whom = "you" if event["to"] == player else f"player {event['to']}"
        done = f"told {whom} {what}: {cards}"
    else:
        done = {
            PLAYED: f"played card {slots[0]}, {card}, which fitted",
            FAILED: f"played card {slots[0]}, {card}, which did not fit and cost a life",
            DISCARDED: f"discarded card {slots[0]}, {card}",
        }[event["result"]]
    piles = " ".join(f"{colour}{top}" for colour, top in event["fireworks"].items())
    return f"{who} {done}. Then: fireworks {piles}, information tokens {event['info']}, lives {event['lives']}."
