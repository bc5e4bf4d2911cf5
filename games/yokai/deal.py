"""Completing a deal of which a part is known, exactly as chance would.

Given the known part, every assignment of the colours left to the unknown cards is equally likely. So is every way to
fill the unknown hints: chance deals all sequences of distinct subsets with the right sizes with the same probability.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from games.yokai.config import Config


def draw_colours(config: Config, known: Sequence[str | None], rng: random.Random) -> list[str]:
    """Returns the colours of all cards, by card id, given those in `known` (None: not known)."""
    left = Counter(dict.fromkeys(config.colours, config.cards_per_colour))
    left.subtract(colour for colour in known if colour is not None)
    rest = [colour for colour in config.colours for _ in range(left[colour])]
    rng.shuffle(rest)
    return [rest.pop() if colour is None else colour for colour in known]


def draw_hints(config: Config, known: Iterable[Sequence[str] | None], rng: random.Random) -> list[tuple[str, ...]]:
    """Returns the colours of all hints, by hint id, given those in `known` (None: not known)."""
    shown = [None if colours is None else tuple(colours) for colours in known]
    rest: list[tuple[str, ...]] = []
    for size, count in enumerate(config.hints_by_size, start=1):
        of_size = [subset for subset in shown if subset is not None and len(subset) == size]
        pool = [subset for subset in config.subsets if len(subset) == size and subset not in of_size]
        rest += rng.sample(pool, count - len(of_size))
    rng.shuffle(rest)
    return [rest.pop() if subset is None else subset for subset in shown]
