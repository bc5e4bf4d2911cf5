"""How policies do with themselves when the players see a game through different symmetries: figures for tables."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

from arena.figures.intervals import Estimate, mean_estimate
from games.yokai.symmetry import TURNS, Element

ALL_COLOURS: Final = "every colour"
NO_COLOUR: Final = "no colour"
APART: Final = ("alike", "a quarter turn apart", "half a turn apart")
"""How far the players' grids are turned against each other, at most."""


@dataclass(frozen=True)
class PolicyNames:
    """One policy with itself.

    Attributes:
        name: of the policy.
        all_games: R over all games.
        by_colours: R by the names that mean the same colour to all players; only what was met.
        by_turns: R by how the players' grids are turned against each other.
    """

    name: str
    all_games: Estimate
    by_colours: dict[str, Estimate]
    by_turns: dict[str, Estimate]


@dataclass(frozen=True)
class NameFigures:
    """All policies.

    Attributes:
        policies: their figures.
        colours: classes of common names, in order.
        turns: classes of turns, in order.
        games: of each policy.
    """

    policies: tuple[PolicyNames, ...]
    colours: tuple[str, ...]
    turns: tuple[str, ...]
    games: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def figures_of(
    name: str, seen: Sequence[Sequence[Element]], score: Sequence[float], words: Sequence[str]
) -> PolicyNames:
    """Returns the figures of one policy.

    Args:
        name: of the policy.
        seen: for each game, the symmetry through which each player sees it.
        score: R of each game.
        words: names of the colours.

    Raises:
        ValueError: there is no game.
    """
    by_colours: dict[str, list[float]] = {}
    by_turns: dict[str, list[float]] = {}
    for players, paid in zip(seen, score, strict=True):
        by_colours.setdefault(common_names(players, words), []).append(paid)
        by_turns.setdefault(turned(players), []).append(paid)
    return PolicyNames(name, _mean(score), _means(by_colours), _means(by_turns))


def common_names(players: Sequence[Element], words: Sequence[str]) -> str:
    """Returns the names that mean the same colour to all players, in words."""
    same = [word for number, word in enumerate(words) if len({player.colours.index(number) for player in players}) == 1]
    if len(same) == len(words):
        return ALL_COLOURS
    return ", ".join(same) or NO_COLOUR


def turned(players: Sequence[Element]) -> str:
    """Returns how far the players' grids are turned against each other, the two that are furthest apart."""
    steps = [abs(one.turns - other.turns) for one, other in combinations(players, 2)]
    return APART[max((min(step, TURNS - step) for step in steps), default=0)]


def name_figures(policies: Sequence[PolicyNames], words: Sequence[str], games: int) -> NameFigures:
    """Returns the figures of all policies, classes in order: the most in common first."""
    met = {key for policy in policies for key in policy.by_colours}
    places = {word: place for place, word in enumerate(words)}

    def rank(key: str) -> tuple[int, list[int]]:
        named = [] if key == NO_COLOUR else list(words) if key == ALL_COLOURS else key.split(", ")
        return -len(named), [places[word] for word in named]

    turns = [key for key in APART if any(key in policy.by_turns for policy in policies)]
    return NameFigures(tuple(policies), tuple(sorted(met, key=rank)), tuple(turns), games)


def _means(groups: dict[str, list[float]]) -> dict[str, Estimate]:
    return {key: _mean(values) for key, values in groups.items()}


def _mean(values: Sequence[float]) -> Estimate:
    found = mean_estimate(values)
    if found is None:
        raise ValueError("no game was played")
    return found
