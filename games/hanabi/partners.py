"""Bots that see what a player may see: yardsticks with published scores, and strangers for other agents to meet.

Their conventions are their own: with strangers they misread hints. Each is given its decision points, in any view, and
the legal actions.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from games.api import Action, ObsActionHistory
from games.hanabi import rule_bots
from games.hanabi.hat import Hat
from games.hanabi.simple_bots import Simple, Valued

Partner: TypeAlias = Callable[[ObsActionHistory, Sequence[Action], random.Random], Action]
"""Chooses one of the legal actions, given its own decision points (the last action None)."""


def blind(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Plays a random card, whatever it is."""
    return rng.choice([action for action in legal if action.startswith("(Play")])


def simple(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Takes every hint for word that all named cards can be played now; discards its oldest card."""
    return Simple(history).choose(legal)


def value(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """As `simple`, but it warns of discarding last copies, and discards what is worthless first."""
    return Valued(history).choose(legal)


def iggi(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Plays what is certain, tells what can be played, discards what is worthless, else the oldest card."""
    return rule_bots.iggi(rule_bots.Ruled(history), legal, rng)


def piers(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """As `iggi`, but it plays what is probably right while a life is to spare."""
    return rule_bots.piers(rule_bots.Ruled(history), legal, rng)


def flawed(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Plays what is right one time in four, and hints at random: a partner that needs care."""
    return rule_bots.flawed(rule_bots.Ruled(history), legal, rng)


def hat(history: ObsActionHistory, legal: Sequence[Action], rng: random.Random) -> Action:
    """Three players or more: every hint is a number that tells each of the others something of its hand."""
    return Hat(history).choose(legal)


PARTNERS: Final[Mapping[str, Partner]] = {
    "blind": blind,
    "simple": simple,
    "value": value,
    "iggi": iggi,
    "piers": piers,
    "flawed": flawed,
    "hat": hat,
}
"""Every partner by name."""

ONLY: Final[Mapping[str, Sequence[str]]] = {"hat": ("hanabi-3p", "hanabi-4p", "hanabi-5p")}
"""The games of partners that do not play all."""
