"""Whole games of the bot `simple`, a hundred times as fast as at the table: for values of actions by play-outs.

The bots' knowledge is kept as numbers and brought up to date move by move; a test holds every game against
`partners.simple` on OpenSpiel's engine. Cards are numbers: `kind` = colour · ranks + rank - 1; one in play is named by
the order in which chance dealt it.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from games.api import Action
from games.hanabi.config import HanabiSizes
from games.hanabi.events import parse

DEFAULT: Final = "simple"
"""The partner that plays games on where nobody is named."""
_ENDLESS: Final = -1
"""No cut: every game ends, since hints and discards use up tokens and cards."""


class _Facts:
    """What is fixed about the cards: by kind colour, rank and the bits of both among hints, colours before ranks."""

    def __init__(self, sizes: HanabiSizes) -> None:
        cards = sizes.kinds()
        self.sizes: Final = sizes
        self.number: Final = {card: kind for kind, card in enumerate(cards)}
        self.colour: Final = [sizes.letters.index(card[0]) for card in cards]
        self.rank: Final = [int(card[1]) for card in cards]
        self.rank_bit: Final = [1 << (sizes.colours + rank - 1) for rank in self.rank]
        self.bits: Final = [1 << colour | bit for colour, bit in zip(self.colour, self.rank_bit, strict=True)]
        self.copies: Final = [sizes.deck()[card] for card in cards]
        self.hints: Final = [1 << place for place in range(sizes.colours + sizes.ranks)]


class _Table:
    """One game: who holds what, what the convention says of it, and what lies open.

    Attributes:
        hands: by player, the cards, oldest first.
        kinds: by card.
        flags: by card, the rank that a flagged card must have, 0 for no flag.
        told: by card, the colour that a hint named, -1 for none.
        piles: by colour, the rank of the last card.
    """

    __slots__ = ("facts", "flags", "hands", "info", "kinds", "lives", "mover", "over", "piles", "told", "turns")

    def __init__(self, facts: _Facts) -> None:
        self.facts = facts
        self.hands: list[list[int]] = [[] for _ in range(facts.sizes.players)]
        self.kinds: list[int] = []
        self.flags: list[int] = []
        self.told: list[int] = []
        self.piles = [0] * facts.sizes.colours
        self.info, self.lives = facts.sizes.info, facts.sizes.lives
        self.mover, self.turns, self.over = 0, facts.sizes.players, False

    def copy(self) -> "_Table":
        new = _Table.__new__(_Table)
        new.facts = self.facts
        new.hands = [hand[:] for hand in self.hands]
        new.kinds, new.flags, new.told, new.piles = self.kinds[:], self.flags[:], self.told[:], self.piles[:]
        new.info, new.lives, new.mover, new.turns, new.over = self.info, self.lives, self.mover, self.turns, self.over
        return new

    def deal(self, player: int, kind: int) -> None:
        self.hands[player].append(len(self.kinds))
        self.kinds.append(kind)
        self.flags.append(0)
        self.told.append(-1)

    def hint(self, to: int, bit: int) -> None:
        """Tells of a colour or rank, by its bit."""
        facts, kinds, colours = self.facts, self.kinds, self.facts.sizes.colours
        hand = self.hands[to]
        named = [card for card in hand if facts.bits[kinds[card]] & bit]
        value = bit.bit_length() - 1
        right = (self.mover - 1) % facts.sizes.players
        passes = self.info == facts.sizes.info and value >= colours and to == right and hand[0] in named
        for card in named:
            if not passes:
                self.flags[card] = self.piles[value] + 1 if value < colours else value - colours + 1
            if value < colours:
                self.told[card] = value
        self.info -= 1

    def use(self, slot: int, plays: bool) -> bool:
        """Plays or discards the mover's own card and returns whether a card is dealt for it, if any is left."""
        facts = self.facts
        card = self.hands[self.mover].pop(slot)
        self.flags[card] = 0
        kind = self.kinds[card]
        colour, rank = facts.colour[kind], facts.rank[kind]
        if plays and self.piles[colour] + 1 != rank:
            self.lives -= 1
            self.over = not self.lives
            return not self.over
        if plays:
            self.piles[colour] = rank
            if rank < facts.sizes.ranks:
                self._unflag(colour, rank)
                return True
            self.over = sum(self.piles) == facts.sizes.perfect
        if self.info < facts.sizes.info:
            self.info += 1
        return not self.over

    def _unflag(self, colour: int, rank: int) -> None:
        flags, told = self.flags, self.told
        for hand in self.hands:
            for card in hand:
                if flags[card] == rank and (told[card] == colour or told[card] < 0):
                    flags[card] = 0

    def simple(self) -> tuple[int, int, bool]:
        """Returns the move of the bot: whom to hint (-1: nobody), the hint's bit or the own slot, whether to play."""
        flags, best, least = self.flags, -1, 99
        for slot, card in enumerate(self.hands[self.mover]):
            if 0 < flags[card] < least:
                best, least = slot, flags[card]
        if best >= 0:
            return -1, best, True
        if self.info:
            to, bit = self._helpful()
            if bit:
                return to, bit, False
        if self.info < self.facts.sizes.info:
            return -1, 0, False
        right = (self.mover - 1) % len(self.hands)
        return right, self.facts.rank_bit[self.kinds[self.hands[right][0]]], False

    def _helpful(self) -> tuple[int, int]:
        """Returns the first of the hints that flag most cards anew and name no unplayable one; bit 0 for none."""
        facts, kinds, flags, piles = self.facts, self.kinds, self.flags, self.piles
        all_bits, colour, rank = facts.bits, facts.colour, facts.rank
        players, full = len(self.hands), self.info == facts.sizes.info
        found, most = (-1, 0), 0
        for offset in range(1, players):
            to = (self.mover + offset) % players
            bad = 0
            new: list[int] = []
            for card in self.hands[to]:
                kind = kinds[card]
                if piles[colour[kind]] + 1 != rank[kind]:
                    bad |= all_bits[kind]
                elif not flags[card]:
                    new.append(all_bits[kind])
            if full and offset == players - 1:
                bad |= facts.rank_bit[kinds[self.hands[to][0]]]
            if not new:
                continue
            for bit in facts.hints:
                if not bit & bad:
                    count = sum(1 for bits in new if bits & bit)
                    if count > most:
                        found, most = (to, bit), count
        return found


class _World:
    """A history of all players and chance, from which `simple` plays on."""

    def __init__(self, facts: _Facts, actions: Sequence[Action]) -> None:
        self._facts = facts
        self._table = _Table(facts)
        self._seed: int | None = None
        self._deck: list[int] = []
        self._left = facts.copies[:]
        whose = [player for player in range(facts.sizes.players) for _ in range(facts.sizes.hand)]
        for action in actions:
            if action.startswith("(Deal "):
                kind = facts.number[action[6:8]]
                self._left[kind] -= 1
                self._table.deal(whose.pop(0) if whose else (self._table.mover - 1) % facts.sizes.players, kind)
            else:
                self._move(self._table, action, sum(self._left) == 0)

    def play(self, action: Action, seed: int, max_actions: int) -> list[float]:
        """Returns what every player gets in the whole game, shape [num_players]; see `search.action_values.World`.

        The same seed leaves the same deck.
        """
        if seed != self._seed:
            self._seed = seed
            self._deck = [kind for kind, count in enumerate(self._left) for _ in range(count)]
            random.Random(seed).shuffle(self._deck)
        return self._with_deck(action, self._deck[:], max_actions)

    def play_deck(self, action: Action, cards: Sequence[str]) -> list[float]:
        """Returns what every player gets in the whole game, played to its end.

        Args:
            action: the first one after the history.
            cards: all that are left in the deck, the next one first.
        """
        deck = [self._facts.number[card] for card in reversed(cards)]
        return self._with_deck(action, deck, _ENDLESS)

    def _with_deck(self, action: Action, deck: list[int], max_actions: int) -> list[float]:
        table = self._table.copy()
        player = table.mover
        if self._move(table, action, not deck) and deck:
            table.deal(player, deck.pop())
        _play_on(table, deck, max_actions)
        points = 0 if not table.lives else sum(table.piles)
        return [float(points)] * len(table.hands)

    def _move(self, table: _Table, action: Action, empty: bool) -> bool:
        parsed = parse(action)
        if parsed.kind == "Reveal":
            sizes = self._facts.sizes
            digit = parsed.value.isdigit()
            place = sizes.colours + int(parsed.value) - 1 if digit else sizes.letters.index(parsed.value)
            table.hint((table.mover + parsed.offset) % sizes.players, 1 << place)
            deals = False
        else:
            deals = table.use(parsed.slot, parsed.kind == "Play")
        _turn(table, empty)
        return deals


def _play_on(table: _Table, deck: list[int], most: int) -> None:
    """Lets `simple` play to the end, or so many moves."""
    while not table.over and most:
        most -= 1
        empty, player = not deck, table.mover
        to, what, plays = table.simple()
        if to >= 0:
            table.hint(to, what)
            _turn(table, empty)
            continue
        deals = table.use(what, plays)
        _turn(table, empty)
        if deals and deck:
            table.deal(player, deck.pop())


def _turn(table: _Table, empty: bool) -> None:
    """Passes the turn on; once the deck is empty everybody has one more."""
    table.mover = (table.mover + 1) % len(table.hands)
    if empty:
        table.turns -= 1
        table.over = table.over or not table.turns


class QuickSimple:
    """`simple` at all seats, see `search.action_values.Playouts`.

    Args:
        game: of `games.hanabi.game`; nothing but its sizes counts.
    """

    def __init__(self, game: Any) -> None:
        self._facts = _Facts(game.config)

    def world(self, actions: Sequence[Action]) -> _World:
        """Returns the world that a history of all players and chance leads to."""
        return _World(self._facts, actions)


QUICK: Final[Mapping[str, Callable[[Any], QuickSimple]]] = {"simple": QuickSimple}
"""Partners whose games are played without the table."""
