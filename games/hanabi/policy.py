"""How a sensible player chooses: a prior for planners on the true game, and bots whose games are good test data.

Random play loses all lives after a dozen moves: final rounds, fives and empty tokens hardly ever occur in it. The bots
play whole games, and slip as often as they are told to; perfect games are those of a player that sees its own hand.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from games.api import Action, Game, ObsActionHistory, Observation, State
from games.hanabi.config import PLAYERS, HanabiSizes
from games.hanabi.events import parse
from games.hanabi.open_hands import OpenHands
from games.hanabi.partners import PARTNERS
from games.hanabi.reading import Slot, Table
from games.hanabi.simple_bots import Simple, Valued


@dataclass(frozen=True)
class ScriptedBot:
    """A bot that plays a random move now and then; every player of a game may follow it.

    Attributes:
        bot: name of a partner.
        mistakes: probability of a random legal move.
    """

    bot: str
    mistakes: float = 0.0

    def __call__(self, game: Game, state: State, history: ObsActionHistory, player: int, rng: random.Random) -> Action:
        """Returns the action to play; looks at the history alone."""
        legal = game.legal_actions(state)
        if rng.random() < self.mistakes:
            return rng.choice(legal)
        return PARTNERS[self.bot](history, legal, rng)


POLICIES: Final[dict[str, ScriptedBot | OpenHands]] = {
    "simple": ScriptedBot("simple"),
    "simple, one move in ten random": ScriptedBot("simple", 0.1),
    "value": ScriptedBot("value"),
    "value, one move in three random": ScriptedBot("value", 0.33),
    "iggi, half the moves random": ScriptedBot("iggi", 0.5),
    "piers": ScriptedBot("piers"),
    "open hands": OpenHands(),
}
"""Policies for test data: games that last, with every kind of end."""

CERTAIN: Final = 0.999
BOT_SHARE: Final = 0.6
"""How much of the prior is a bot's choice."""
PLAY_WEIGHT: Final = 40.0
HINT_WEIGHT: Final = 12.0
DISCARD_WEIGHT: Final = 4.0
LEAST: Final = 0.02
"""So much every legal action weighs at least."""


def prior(table: Table, sizes: HanabiSizes, seen: Observation, actions: Sequence[Action]) -> list[float]:
    """Returns how likely a sensible player is to choose each action, by what it can know alone.

    Most of it is the choice of a bot, `value`, or with five players `simple`, whose conventions the others are taken to
    follow, too. The rest goes to what is likely right without any: plays by the chance that the card fits, hints by how
    many cards that fit they name, discards by the chance that nobody needs the card.

    Args:
        table: as the state says; of the own hand what hints have told is used, and nothing else.
        sizes: of the game.
        seen: what the player sees, with all events of the game.
        actions: legal ones.

    Returns:
        Probabilities in the order of `actions`, summing to 1.
    """
    bot = Simple if sizes.players == PLAYERS[-1] else Valued
    chosen = bot([(seen, None)], sizes).choose(actions)
    chooser = _Chooser(table, sizes, seen["player"])
    weights = [max(LEAST, chooser.weight(action)) for action in actions]
    total = sum(weights)
    return [
        (1 - BOT_SHARE) * weight / total + BOT_SHARE * (action == chosen)
        for action, weight in zip(actions, weights, strict=True)
    ]


class _Chooser:
    """One decision of one player."""

    def __init__(self, table: Table, sizes: HanabiSizes, player: int) -> None:
        self._table, self._sizes, self._player = table, sizes, player
        self._needed = {colour: top + 1 for colour, top in table.fireworks.items()}
        self._gone = {card: table.discards.count(card) for card in set(table.discards)}
        self._ends = {colour: self._end(colour) for colour in table.fireworks}
        self._unseen = sizes.deck()
        for card in self._seen():
            self._unseen[card] -= 1
        own = table.hands[player]
        self._kinds = [self._weights(slot) for slot in own]
        unnamed = [number for number, slot in enumerate(own) if not _is_named(slot)]
        self._oldest = unnamed[0] if unnamed else 0

    def weight(self, action: Action) -> float:
        """Returns how much speaks for an action."""
        parsed = parse(action)
        if parsed.kind == "Play":
            return self._play(parsed.slot)
        if parsed.kind == "Discard":
            return self._discard(parsed.slot)
        return self._hint((self._player + parsed.offset) % self._sizes.players, parsed.value)

    def _play(self, slot: int) -> float:
        chance = self._share(slot, self._fits)
        if chance > CERTAIN:
            return 2 * PLAY_WEIGHT
        return PLAY_WEIGHT * chance**3 * (1.0 if self._table.lives > 1 else 0.3)

    def _discard(self, slot: int) -> float:
        worthless = self._share(slot, self._is_worthless)
        last = self._share(slot, self._is_last_copy)
        want = 1.0 - 0.1 * self._table.info
        named = _is_named(self._table.hands[self._player][slot])
        first = 1.0 if slot == self._oldest else 0.1 if named else 0.4
        return DISCARD_WEIGHT * max(0.1, want) * (worthless * 2 + first * (1 - worthless)) * (1 - last) ** 2

    def _hint(self, seat: int, value: str) -> float:
        hand = self._table.hands[seat]
        told, misled, saved = 0, 0, 0
        for slot in hand:
            if value not in slot.card:
                continue
            fits, new = self._fits(slot.card), not _is_named(slot)
            told += fits and (new or not self._is_plain(slot))
            misled += new and not fits and self._may_fit(slot, value)
            saved += new and slot is hand[0] and self._is_last_copy(slot.card)
        scarce = 0.6 + 0.05 * self._table.info
        if told > misled:
            return HINT_WEIGHT * scarce * (told - 0.8 * misled)
        if saved and value.isdigit():
            return 0.4 * HINT_WEIGHT * scarce
        return 0.5 * scarce if not misled else 0.1

    def _may_fit(self, slot: Slot, value: str) -> bool:
        """Returns whether the holder may take a card for playable once it is told a value of it."""
        colours = value if not value.isdigit() else slot.colours
        ranks = value if value.isdigit() else slot.ranks
        return any(str(self._needed[colour]) in ranks for colour in colours)

    def _is_plain(self, slot: Slot) -> bool:
        """Returns whether hints alone say that a card can be played."""
        return all(str(self._needed[colour]) == slot.ranks for colour in slot.colours)

    def _share(self, slot: int, holds: Callable[[str], bool]) -> float:
        kinds = self._kinds[slot]
        total = sum(kinds.values())
        return sum(copies for card, copies in kinds.items() if holds(card)) / total if total else 0.0

    def _weights(self, slot: Slot) -> Mapping[str, int]:
        cards = (f"{colour}{rank}" for colour in slot.colours for rank in slot.ranks)
        return {card: self._unseen[card] for card in cards if self._unseen[card] > 0}

    def _seen(self) -> list[str]:
        table = self._table
        played = [f"{colour}{rank}" for colour, top in table.fireworks.items() for rank in range(1, top + 1)]
        others = [slot.card for seat, hand in enumerate(table.hands) if seat != self._player for slot in hand]
        return [*played, *table.discards, *others]

    def _fits(self, card: str) -> bool:
        return self._needed[card[0]] == int(card[1])

    def _end(self, colour: str) -> int:
        """Returns the highest rank that the firework of a colour can still reach."""
        rank = self._needed[colour]
        while rank <= self._sizes.ranks and self._gone.get(f"{colour}{rank}", 0) < self._sizes.copies(rank):
            rank += 1
        return rank - 1

    def _is_worthless(self, card: str) -> bool:
        return not self._needed[card[0]] <= int(card[1]) <= self._ends[card[0]]

    def _is_last_copy(self, card: str) -> bool:
        return not self._is_worthless(card) and self._gone.get(card, 0) == self._sizes.copies(int(card[1])) - 1


def _is_named(slot: Slot) -> bool:
    return slot.told_colour is not None or slot.told_rank is not None
