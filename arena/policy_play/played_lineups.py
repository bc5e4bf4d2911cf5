"""Games of trained policies as arrays, and their figures as the tables of all other agents show them.

Thousands of games a seating are summed up here without a record of each; the independent unit is a deal, as elsewhere.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.figures import metrics
from arena.figures.intervals import Estimate, mean_estimate
from arena.figures.metrics import Cooperation
from arena.matches.cross_play import CrossPlay
from arena.matches.ratings import AgentResult, Lineup, LineupResult, Standings
from games.api import GameInfo

Numbers: TypeAlias = NDArray[np.float64]
Seating: TypeAlias = tuple[str, ...]
"""Names by seat."""


Tally: TypeAlias = dict[str, Numbers]
"""What came of one game on every deal, float64 [G] by name; after `together`, means over several."""
WATCHED: Final = ("moves", "border")
FIELDS: Final = (*metrics.TAKEN, *WATCHED)
"""Names in a tally: metrics that are taken from a game; cards moved, and of these, to a cell at the grid's border."""


def cooperation(tally: Tally, games: int = 1) -> Cooperation:
    """Returns the figures with a deal as the unit; `games` on each deal were averaged."""
    means = {key: tally[key].tolist() for key in metrics.TAKEN}
    sums = {key: (games * tally[key]).tolist() for key in metrics.TAKEN}
    found = metrics.cooperation(lambda metric: metric.estimate(means, sums))
    assert found is not None  # there is at least one deal
    return found


def together(tallies: Sequence[Tally]) -> Tally:
    """Returns, deal by deal, the means over several tallies."""

    def mean(name: str) -> Numbers:
        total: Numbers = reduce(np.add, (tally[name] for tally in tallies))
        return total / len(tallies)

    return {name: mean(name) for name in FIELDS}


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
    gap = mean_estimate((_over(alone)["score"] - _over(mixed)["score"]).tolist()) if alone and mixed else None
    return CrossPlay(
        table=_standings(lineups, info, names),
        self_play=_cooperation(alone),
        cross_play=_cooperation(mixed),
        gap=gap,
        over_lineups=mean_estimate([float(together(tallies)["score"].mean()) for tallies in mixed]),
        seconds=None,
        missing={},
        played=sum(tally["score"].size for tally in played.values()),
    )


def _over(lineups: Sequence[Sequence[Tally]]) -> Tally:
    """Returns the means over lineups of the means over their seatings."""
    return together([together(tallies) for tallies in lineups])


def _cooperation(lineups: Sequence[Sequence[Tally]]) -> Cooperation | None:
    return cooperation(_over(lineups), sum(map(len, lineups))) if lineups else None


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
    figures = cooperation(together(tallies), len(tallies))
    deals = tallies[0]["score"].size
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
