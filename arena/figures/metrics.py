"""The figures of cooperative games, as the Yōkai Learning Environment's tables name them.

A new one is a field of `Cooperation`, with a row that says how it is taken and shown, and the function that takes it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from arena.figures.intervals import Estimate, mean_estimate, rate_estimate, ratio_estimate


@dataclass(frozen=True)
class GameFacts:
    """What is known of a finished game: numbers, or float64 arrays [G] over games.

    Attributes:
        score: what a win is worth, or would have been.
        won: 1 or 0.
        early: 1 if a player ended it early, else 0.
        returns: what the game paid.
        length: players' actions.
    """

    score: Any
    won: Any
    early: Any
    returns: Any
    length: Any


@dataclass(frozen=True)
class Metric:
    """How a figure is taken and shown.

    Attributes:
        key: field of `Cooperation`.
        name: in tables.
        place: among the columns of a table, from the left.
        of: takes it from the facts of a game, or None for a ratio.
        ratio: keys of two others, of which it is the ratio of the sums; None for a mean over deals.
        share: whether it lies in [0, 1].
        digits: decimals.
    """

    key: str
    name: str
    place: int
    of: Callable[[GameFacts], Any] | None = None
    ratio: tuple[str, str] | None = None
    share: bool = False
    digits: int = 2

    def estimate(self, means: Mapping[str, Sequence[float]], sums: Mapping[str, Sequence[float]]) -> Estimate | None:
        """Returns the figure with a deal as the unit; None for no deals, and for a ratio to nothing.

        Args:
            means: over the games of each deal, by key.
            sums: over them.
        """
        if self.ratio is None:
            return (rate_estimate if self.share else mean_estimate)(means[self.key])
        part, whole = self.ratio
        return ratio_estimate(list(zip(sums[part], sums[whole], strict=True)))


def _row(name: str, place: int, of: Callable[[GameFacts], Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"row": {"name": name, "place": place, "of": of, **more}}


def _won_score(game: GameFacts) -> Any:
    return game.score * game.won


def _won_early(game: GameFacts) -> Any:
    return game.won * game.early


@dataclass(frozen=True)
class Cooperation:
    """Figures of games of identical interest, in the order in which they are stored.

    Attributes:
        score: R, the mean of what a win is worth, a loss counting 0.
        returns: the mean return, losses as the game pays them.
        won: share of games won.
        early: EE, share of games that a player ended early.
        success_early: SEE, share of games ended early and won.
        won_given_early: WEE, share of wins among the games ended early; None if none was.
        length: LEN, players' actions in a game.
    """

    score: Estimate = field(metadata=_row("R", 0, _won_score))
    returns: Estimate = field(metadata=_row("return", 1, lambda game: game.returns))
    won: Estimate = field(metadata=_row("won", 6, lambda game: game.won, share=True))
    early: Estimate = field(metadata=_row("EE", 3, lambda game: game.early, share=True))
    success_early: Estimate = field(metadata=_row("SEE", 2, _won_early, share=True))
    won_given_early: Estimate | None = field(metadata=_row("WEE", 4, ratio=("success_early", "early"), share=True))
    length: Estimate = field(metadata=_row("LEN", 5, lambda game: game.length, digits=1))


METRICS: Final = tuple(Metric(key=item.name, **item.metadata["row"]) for item in fields(Cooperation))
TAKEN: Final = {metric.key: metric.of for metric in METRICS if metric.of is not None}
"""Those that are taken from a game, by key; the others are ratios of them."""
SHOWN: Final = tuple(sorted(METRICS, key=lambda metric: metric.place))
NAMES: Final = tuple(metric.name for metric in SHOWN)
"""Headings of the columns of a table."""
TERMS: Final = {
    "R": "score of a game, a lost one counts as 0; mean over games",
    "return": "what the game paid, a loss too; mean over games",
    "SEE": "share of games that were ended early and won",
    "EE": "share of games that were ended early",
    "WEE": "of those ended early, the share that was won",
    "LEN": "actions of players in a game",
    "won": "share of games that were won",
}
"""What the columns of cooperative games mean."""


def taken(game: GameFacts) -> dict[str, Any]:
    """Returns the figures of a game, or of games in arrays, by key."""
    return {key: of(game) for key, of in TAKEN.items()}


def cooperation(estimate: Callable[[Metric], Estimate | None]) -> Cooperation | None:
    """Returns all figures, None where one that is no ratio has no value."""
    found: dict[str, Any] = {metric.key: estimate(metric) for metric in METRICS}
    return None if any(found[key] is None for key in TAKEN) else Cooperation(**found)


def cells(figures: Cooperation | None, show: Callable[[Estimate | None, int], str]) -> list[str]:
    """Returns the figures as text, one for each of `NAMES`."""
    return [show(None if figures is None else getattr(figures, metric.key), metric.digits) for metric in SHOWN]
