"""A player that sees its own hand, which none may: for test data alone, in which perfect games are to occur."""

import random

from games.api import Action, Game, ObsActionHistory, State
from games.hanabi.config import discard, play
from games.hanabi.events import parse
from games.hanabi.reading import Table, read


class OpenHands:
    """Plays what fits, discards what nobody needs, passes the turn by hints; half of its games or more are perfect."""

    def __call__(self, game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
        """Returns the action to play; looks at the whole state."""
        table, legal = read(str(state)), game.legal_actions(state)
        hand = [slot.card for slot in table.hands[player]]
        fits = [slot for slot, card in enumerate(hand) if table.fireworks[card[0]] + 1 == int(card[1])]
        if fits:
            return play(min(fits, key=lambda slot: hand[slot][1]))
        spare = _spare(table, hand)
        hints = [action for action in legal if parse(action).offset]
        if spare and discard(spare[0]) in legal:
            return discard(spare[0])
        if hints:
            return rng.choice(hints)
        return discard(max(range(len(hand)), key=lambda slot: (hand[slot] in table.discards, -int(hand[slot][1]))))


def _spare(table: Table, hand: list[str]) -> list[int]:
    """Returns the slots whose cards are on the table, or in somebody's hand, once more."""
    held = [slot.card for other in table.hands for slot in other]
    return [slot for slot, card in enumerate(hand) if int(card[1]) <= table.fireworks[card[0]] or held.count(card) > 1]
