"""Exact sampling of the histories that one player cannot tell from the real one.

Which hidden cards fit is a matter of counting: each card that the opponent was seen to have without having been seen to
take it came from one of its hidden places, its ten dealt cards and its draws from the stock up to then.
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from games.api import Action, GameError, ObsActionHistory, Observation
from games.gin_rummy.cards import DECK, HAND_SIZE, split

DRAW_UPCARD: Final = "Draw upcard"
DRAW_STOCK: Final = "Draw stock"
KNOCK: Final = "Knock"
WORDS: Final = (DRAW_UPCARD, DRAW_STOCK, "Pass", KNOCK)
"""The actions that name no card."""


@dataclass
class _Hidden:
    """The opponent's hidden places in the order in which chance filled them: ten dealt cards, then its stock draws.

    Attributes:
        cards: what is known to have come to a place, None where any unseen card may have.
        free: places without a card yet.
        held: cards in the opponent's hand that everybody saw it take, or that it has shown since.
    """

    rng: random.Random
    cards: list[str | None] = field(default_factory=lambda: [None] * HAND_SIZE)
    free: list[int] = field(default_factory=lambda: list(range(HAND_SIZE)))
    held: set[str] = field(default_factory=set)

    def draw(self) -> None:
        """The opponent draws from the stock."""
        self.free.append(len(self.cards))
        self.cards.append(None)

    def show(self, card: str) -> None:
        """The opponent turns out to hold `card`; if nobody saw it come, each free place is equally likely.

        All places that were free for an earlier card are open to a later one too, so drawing them one by one in the
        order of time gives every consistent assignment the same chance.
        """
        if card not in self.held:
            self.held.add(card)
            if not self.free:
                raise GameError(f"the opponent shows {card}, but all its cards are known; pass a history of one game.")
            self.cards[self.free.pop(self.rng.randrange(len(self.free)))] = card


def resample_history(history: ObsActionHistory, player: int, rng: random.Random) -> list[Action]:
    """Returns a whole history, chance's deals first, that `player` cannot tell from the real one.

    It is drawn uniformly from all courses of chance that fit what the player saw: what both players did stays as it
    was, so do the player's own cards, what the opponent took from the discards, what it has shown since, and when. The
    opponent's choices are taken to say nothing of its other cards (but that it held what it discarded, laid or laid
    off, and what it shows after a knock). The orders of dealt cards are drawn too. Nothing is rejected.

    Args:
        history: the player's decision points, oldest first; a last one at the end of the game is fine too.
        player: whose history it is.
        rng: source of all randomness.

    Raises:
        GameError: the history is empty, another player's, or contradicts itself.
    """
    if not history:
        raise GameError("the history is empty; a player's history holds at least its current decision point.")
    if any(shown["player"] != player for shown, _ in history):
        raise GameError(f"the history is to hold observations of player {player} alone.")
    log = _public_log(history, player)
    first = history[0][0]
    upcard = first["upcard"] if first["phase"] == "FirstUpcard" else first["previous_upcard"]
    hidden = _replay(log, 1 - player, upcard, history[-1][0]["opponent_hand"], rng)
    drawn = _own_draws(history)
    seen = {*first["hand"], *drawn, upcard, *hidden.cards}
    unseen = [card for card in DECK if card not in seen]
    theirs = _fill(hidden.cards, rng.sample(unseen, len(hidden.free)))
    own = rng.sample(first["hand"], HAND_SIZE)
    hands = (own, theirs[:HAND_SIZE]) if player == 0 else (theirs[:HAND_SIZE], own)
    stock = {player: iter(drawn), 1 - player: iter(theirs[HAND_SIZE:])}
    actions = [f"Deal {card}" for card in (*hands[0], *hands[1], upcard)]
    for mover, action in log:
        actions.append(action)
        if action == DRAW_STOCK:
            actions.append(f"Deal {next(stock[mover])}")
    return actions


def _public_log(history: ObsActionHistory, player: int) -> list[tuple[int, Action]]:
    """Returns what both players did, in order."""
    log: list[tuple[int, Action]] = []
    for shown, action in history:
        last = shown["last_moves"]
        if last["player"] == 1 - player:
            log += [(1 - player, move) for move in last["actions"]]
        if action is not None:
            log.append((player, action))
    return log


def _own_draws(history: ObsActionHistory) -> list[str]:
    """Returns the cards that the player drew from the stock: each is new in its next observation's hand."""
    drawn = []
    for (before, action), (after, _) in itertools.pairwise(history):
        if action == DRAW_STOCK:
            drawn += _new_cards(before, after)
    return drawn


def _new_cards(before: Observation, after: Observation) -> list[str]:
    new = [card for card in after["hand"] if card not in before["hand"]]
    if len(new) != 1:
        raise GameError(f"after {DRAW_STOCK!r} the hand shows {len(new)} new cards; pass every own decision point.")
    return new


def _replay(
    log: Sequence[tuple[int, Action]], opponent: int, upcard: str, shown: list[str] | None, rng: random.Random
) -> _Hidden:
    """Follows the cards in public and returns the opponent's hidden places, filled as far as it has shown them.

    Args:
        log: what both players did.
        opponent: whose places.
        upcard: the first one.
        shown: the opponent's hand at the end, None if it is hidden.
        rng: source of the choice of places.
    """
    hidden = _Hidden(rng)
    for number, (mover, action) in enumerate(log):
        # Whoever knocks without having drawn does so when the stock has run out, and takes the upcard with it.
        knocks_at_wall = action == KNOCK and log[number - 1][0] != mover
        if mover == opponent and (action == DRAW_UPCARD or knocks_at_wall):
            hidden.held.add(upcard)
        elif mover == opponent and action == DRAW_STOCK:
            hidden.draw()
        elif action not in WORDS:
            for card in split(action) if mover == opponent else ():
                hidden.show(card)
                hidden.held.discard(card)
            upcard = action
    for card in shown or ():
        hidden.show(card)
    return hidden


def _fill(places: Sequence[str | None], cards: Sequence[str]) -> list[str]:
    """Returns the cards of all places, the empty ones filled in order."""
    rest = iter(cards)
    return [next(rest) if card is None else card for card in places]
