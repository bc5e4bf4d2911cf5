"""Bots that go through a list of rules and take the first that applies, without a convention about hints.

The lists are those of Walton-Rivers et al. (2017) as their text tells them, which leaves room; written anew.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from games.api import Action
from games.hanabi.config import discard, hint, play
from games.hanabi.mind import Mind

Rules: TypeAlias = Sequence[Callable[[], Sequence[Action]]]
"""Each returns one action, or none where it does not apply."""


class Ruled(Mind):
    """What rules ask: how sure a card is, what to tell, what to discard."""

    @cached_property
    def weights(self) -> list[Mapping[str, int]]:
        """For each own card, the copies unseen of every kind that it may be."""
        seen, deck = self.seen(), self.sizes.deck()
        return [{card: deck[card] - seen.get(card, 0) for card in self.kinds(known, seen)} for known in self.own]

    def likeliest_play(self, at_least: float) -> list[Action]:
        """Returns the play that is likeliest to be right, if it is as likely as that."""
        found = []
        for slot, weights in enumerate(self.weights):
            chance = sum(copies for card, copies in weights.items() if self.fits(card)) / sum(weights.values())
            found.append((chance, -slot))
        chance, slot = max(found)
        return [play(-slot)] if chance >= at_least else []

    def tell(self, wanted: Sequence[tuple[int, int]]) -> list[Action]:
        """Returns a hint about the first of some cards of others of which colour or rank is not known yet.

        Args:
            wanted: player and slot.
        """
        for seat, slot in wanted if self.info else ():
            known, card = self.course.hands[seat][slot], self.hands[seat][slot] or ""
            missing = [value for value, may_be in zip(card, known.mask, strict=True) if len(may_be) > 1]
            if missing:
                return [hint((seat - self.player) % self.sizes.players, missing[-1])]
        return []

    def playable(self) -> list[tuple[int, int]]:
        """Returns player and slot of others' cards that can be played, the next player first."""
        return [(seat, slot) for seat, slot, card in self._others_cards() if self.fits(card)]

    def dispensable(self) -> list[tuple[int, int]]:
        """Returns player and slot of others' cards that are worthless."""
        return [(seat, slot) for seat, slot, card in self._others_cards() if self.is_worthless(card)]

    def worthless_discard(self, legal: Sequence[Action]) -> list[Action]:
        """Returns the discard of an own card that is worthless for sure."""
        sure = (slot for slot, weights in enumerate(self.weights) if all(map(self.is_worthless, weights)))
        return [discard(slot) for slot in sure if discard(slot) in legal]

    def oldest_discard(self, legal: Sequence[Action]) -> list[Action]:
        """Returns the discard of the oldest card."""
        return [action for action in (discard(0),) if action in legal]

    def random_hint(self, rng: random.Random, legal: Sequence[Action]) -> list[Action]:
        """Returns any hint."""
        hints = [action for action in legal if action.startswith("(Reveal")]
        return [rng.choice(hints)] if hints else []

    def _others_cards(self) -> list[tuple[int, int, str]]:
        return [(seat, slot, card) for seat in self.others() for slot, card in enumerate(self.hands[seat]) if card]


def iggi(mind: Ruled, legal: Sequence[Action], rng: random.Random) -> Action:
    """Returns the move of the bot that takes no risk."""
    rules: Rules = (
        lambda: mind.likeliest_play(1.0),
        lambda: mind.tell(mind.playable()),
        lambda: mind.worthless_discard(legal),
        lambda: mind.oldest_discard(legal),
        lambda: mind.random_hint(rng, legal),
    )
    return _first(rules, legal)


def piers(mind: Ruled, legal: Sequence[Action], rng: random.Random) -> Action:
    """Returns the move of the bot that risks spare lives, all of them when the deck is empty."""
    spare, empty = mind.lives > 1, mind.now["deck_size"] == 0
    rules: Rules = (
        lambda: mind.likeliest_play(0.01) if spare and empty else [],
        lambda: mind.likeliest_play(1.0),
        lambda: mind.likeliest_play(0.6) if spare else [],
        lambda: mind.tell(mind.playable()),
        lambda: mind.tell(mind.dispensable()) if mind.info < 4 else [],
        lambda: mind.worthless_discard(legal),
        lambda: mind.oldest_discard(legal),
        lambda: mind.random_hint(rng, legal),
    )
    return _first(rules, legal)


def flawed(mind: Ruled, legal: Sequence[Action], rng: random.Random) -> Action:
    """Returns the move of the bot that plays what is right one time in four, and hints at random."""
    rules: Rules = (
        lambda: mind.likeliest_play(0.25),
        lambda: mind.random_hint(rng, legal),
        lambda: mind.worthless_discard(legal),
        lambda: mind.oldest_discard(legal),
    )
    return _first(rules, legal)


def _first(rules: Rules, legal: Sequence[Action]) -> Action:
    """Returns what the first rule that applies says; if none does, the first legal action."""
    return next((found[0] for rule in rules if (found := rule())), legal[0])
