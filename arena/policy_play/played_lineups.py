"""Games of trained policies as arrays, and their figures as the tables of all other agents show them.

Thousands of games a seating are summed up here without a record of each; the independent unit is a deal, as elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.figures.intervals import Estimate, mean_estimate, rate_estimate, ratio_estimate
from arena.matches.cross_play import CrossPlay
from arena.matches.ratings import AgentResult, Cooperation, Lineup, LineupResult, Standings
from games.api import GameInfo

Numbers: TypeAlias = NDArray[np.float64]
Seating: TypeAlias = tuple[str, ...]
"""Names by seat."""


@dataclass(frozen=True)
class Tally:
    """What came of one game on every deal; after `together`, means over several.

    Attributes:
        score: float64 [G], what a win was worth, 0 for a loss.
        returns: float64 [G].
        won: float64 [G], 1 or 0.
        early: float64 [G], ended early.
        success_early: float64 [G], ended early and won.
        length: float64 [G], players' actions.
        moves: float64 [G], cards moved.
        border: float64 [G], of these, to a cell at the border of the grid.
    """

    score: Numbers
    returns: Numbers
    won: Numbers
    early: Numbers
    success_early: Numbers
    length: Numbers
    moves: Numbers
    border: Numbers

    def cooperation(self, games: int = 1) -> Cooperation:
        """Returns the figures with a deal as the unit; `games` on each deal were averaged."""
        score, returns, length = map(_mean, (self.score, self.returns, self.length))
        won, early, both = map(_rate, (self.won, self.early, self.success_early))
        pairs = list(zip((games * self.success_early).tolist(), (games * self.early).tolist(), strict=True))
        return Cooperation(score, returns, won, early, both, ratio_estimate(pairs), length)

    def border_share(self) -> float | None:
        """Returns the share of moves that went to a border cell, None if no card was moved."""
        moves = float(self.moves.sum())
        return float(self.border.sum()) / moves if moves else None


FIELDS = ("score", "returns", "won", "early", "success_early", "length", "moves", "border")


def together(tallies: Sequence[Tally]) -> Tally:
    """Returns, deal by deal, the means over several tallies."""

    def mean(name: str) -> Numbers:
        total: Numbers = reduce(np.add, (getattr(tally, name) for tally in tallies))
        return total / len(tallies)

    return Tally(**{name: mean(name) for name in FIELDS})


def by_lineup(played: Mapping[Seating, Tally]) -> dict[Lineup, list[Tally]]:
    """Returns the tallies of all seatings of each lineup, lineups in the order of their names."""
    found: dict[Lineup, list[Tally]] = {}
    for seating in sorted(played):
        found.setdefault(tuple(sorted(seating)), []).append(played[seating])
    return dict(sorted(found.items()))


def summary(played: Mapping[Seating, Tally], info: GameInfo, names: Sequence[str]) -> CrossPlay:
    """Returns the figures of cross-play, as of games that were recorded one by one.

    Args:
        played: by seating, all on the same deals.
        info: of the game.
        names: of the policies, in the order of the tables.
    """
    lineups = by_lineup(played)
    alone = [tallies for lineup, tallies in lineups.items() if len(set(lineup)) == 1]
    mixed = [tallies for lineup, tallies in lineups.items() if len(set(lineup)) > 1]
    gap = mean_estimate((_over(alone).score - _over(mixed).score).tolist()) if alone and mixed else None
    return CrossPlay(
        table=_standings(lineups, info, names),
        self_play=_cooperation(alone),
        cross_play=_cooperation(mixed),
        gap=gap,
        over_lineups=mean_estimate([float(together(tallies).score.mean()) for tallies in mixed]),
        seconds=None,
        missing={},
        played=sum(tally.score.size for tally in played.values()),
    )


def _over(lineups: Sequence[Sequence[Tally]]) -> Tally:
    """Returns the means over lineups of the means over their seatings."""
    return together([together(tallies) for tallies in lineups])


def _cooperation(lineups: Sequence[Sequence[Tally]]) -> Cooperation | None:
    return _over(lineups).cooperation(sum(map(len, lineups))) if lineups else None


def _standings(lineups: Mapping[Lineup, Sequence[Tally]], info: GameInfo, names: Sequence[str]) -> Standings:
    results = {lineup: _lineup_result(lineup, tallies) for lineup, tallies in lineups.items()}

    def cell(row: str, column: str) -> Estimate | None:
        found = results.get(tuple(sorted((row, column))))
        return None if found is None or found.cooperation is None else found.cooperation.score

    return Standings(
        game=info.id,
        utility=info.utility,
        games=sum(result.games for result in results.values()),
        agents=tuple(_agent(name, lineups) for name in names),
        lineups=tuple(results.values()),
        matrix=tuple(tuple(cell(row, column) for column in names) for row in names) if info.num_players == 2 else (),
    )


def _lineup_result(lineup: Lineup, tallies: Sequence[Tally]) -> LineupResult:
    figures = together(tallies).cooperation(len(tallies))
    deals = tallies[0].score.size
    return LineupResult(lineup, len(tallies) * deals, deals, (), figures, figures.length)


def _agent(name: str, lineups: Mapping[Lineup, Sequence[Tally]]) -> AgentResult:
    alone = [tallies for lineup, tallies in lineups.items() if set(lineup) == {name}]
    mixed = [tallies for lineup, tallies in lineups.items() if name in lineup and set(lineup) != {name}]
    return AgentResult(
        agent=name,
        cross=None,
        self_play=_cooperation(alone),
        cross_play=_cooperation(mixed),
        forfeits={},
        fallbacks={},
        moves=0,
        seconds=None,
    )


def _mean(values: Numbers) -> Estimate:
    found = mean_estimate(values.tolist())
    assert found is not None  # there is at least one deal
    return found


def _rate(values: Numbers) -> Estimate:
    found = rate_estimate(values.tolist())
    assert found is not None  # there is at least one deal
    return found
