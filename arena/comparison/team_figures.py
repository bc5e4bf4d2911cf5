"""Figures of teams in games that have a module `figures` in their folder: its scores, and what happened on the way.

The module has `SCORES`, names of numbers in the outcome, and `course(moves, end)`, numbers by name that one game has; a
forfeited game counts 0 in the last of `SCORES`.
"""

import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Final

from arena.figures import bootstrap
from arena.figures.bootstrap import Bootstrapped
from arena.figures.intervals import Estimate, mean_estimate
from arena.matches import replay
from arena.matches.match import GameRecord
from arena.matches.ratings import Lineup, lineup_of
from games import registry
from games.api import Game, UnknownGameError

LENGTH: Final = "turns"
_ByDeal = dict[int, float]


@dataclass(frozen=True)
class TeamScore:
    """One score of one group of games.

    Attributes:
        mean: over deals, each the mean over lineups of the means over their games.
        middle: interquartile mean over the deals of every lineup, resampled within lineups.
    """

    mean: Estimate | None
    middle: Bootstrapped | None


@dataclass(frozen=True)
class TeamLineup:
    """A lineup.

    Attributes:
        lineup: names, sorted.
        games: of it.
        forfeits: games that were forfeited.
        scores: by name.
        course: means over deals of what happened on the way, by name, in the order of tables.
    """

    lineup: Lineup
    games: int
    forfeits: int
    scores: Mapping[str, TeamScore]
    course: Mapping[str, Estimate | None]


@dataclass(frozen=True)
class Shared:
    """Two agents at one table.

    Attributes:
        weak: the one with the lower mean alone.
        strong: the other.
        seats: how many the strong one held.
        share: by score, how far the lineup is on the way from weak to strong; None where they are equal.
    """

    weak: str
    strong: str
    seats: int
    share: Mapping[str, Bootstrapped | None]


@dataclass(frozen=True)
class TeamFigures:
    """Everything that is said of teams.

    Attributes:
        names: of the scores.
        lineups: of one agent first.
        self_play: by score, over all lineups of one agent; {} if there are none.
        cross_play: the same of lineups of several.
        gap: by score, self-play less cross-play, deal by deal; {} where one is missing.
        shares: of lineups of two agents, whose both alone were played, too.
    """

    names: tuple[str, ...]
    lineups: tuple[TeamLineup, ...]
    self_play: Mapping[str, TeamScore]
    cross_play: Mapping[str, TeamScore]
    gap: Mapping[str, Estimate | None]
    shares: tuple[Shared, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns all of it as JSON."""
        return asdict(self)


def module_of(game: Game) -> Any | None:
    """Returns the module `figures` of the game's folder; None if it has none, or if a model plays the game's part."""
    try:
        package = registry.describe(game.info.id).package
    except UnknownGameError:
        return None
    if not package or not type(game).__module__.startswith(f"{package}."):
        return None
    if importlib.util.find_spec(f"{package}.figures") is None:
        return None
    return importlib.import_module(f"{package}.figures")


def figures(game: Game, records: Sequence[GameRecord], agents: Sequence[str]) -> TeamFigures | None:
    """Returns the figures of games on common deals, None of a game without a module `figures`.

    A forfeited game has no outcome: it is left out of every score but the last of `SCORES`, where it counts 0.

    Args:
        game: by whose rules the games are gone through again.
        records: finished games.
        agents: names, in the order of tables.

    Raises:
        RecordError: a game does not agree with the rules.
    """
    module = module_of(game)
    if module is None:
        return None
    names: tuple[str, ...] = tuple(module.SCORES)
    groups: dict[Lineup, list[GameRecord]] = {}
    for record in records:
        groups.setdefault(lineup_of(record), []).append(record)
    places = {name: place for place, name in enumerate(agents)}
    ordered = sorted(groups, key=lambda lineup: (len(set(lineup)) > 1, [places[name] for name in lineup]))
    lineups = tuple(_lineup(game, module, lineup, groups[lineup]) for lineup in ordered)
    sides = [
        {
            name: [_by_deal(groups[lineup], name, names) for lineup in ordered if (len(set(lineup)) == 1) == alone]
            for name in names
        }
        for alone in (True, False)
    ]
    own, others = ({name: _score(parts) for name, parts in side.items() if parts} for side in sides)
    gap = {name: _gap(sides[0][name], sides[1][name]) for name in names} if own and others else {}
    return TeamFigures(names, lineups, own, others, gap, tuple(_shares(groups, names, agents)))


def _lineup(game: Game, module: Any, lineup: Lineup, records: Sequence[GameRecord]) -> TeamLineup:
    ended = [record for record in records if record.outcome is not None]
    courses = [(record, _course(game, module, record)) for record in ended]
    return TeamLineup(
        lineup,
        len(records),
        len(records) - len(ended),
        {name: _score([_by_deal(records, name, module.SCORES)]) for name in module.SCORES},
        {
            name: mean_estimate(list(_means([(record.deal_seed, counts[name]) for record, counts in courses]).values()))
            for name in dict.fromkeys(name for _, counts in courses for name in counts)
        },
    )


def _course(game: Game, module: Any, record: GameRecord) -> dict[str, float]:
    *moves, (end, _, _) = replay.states(game, record)
    counts = module.course([(state, action) for state, _, action in moves], end)
    return {LENGTH: float(record.length), **counts}


def _score(parts: Sequence[_ByDeal]) -> TeamScore:
    mean = mean_estimate(list(_over_lineups(parts).values()))
    return TeamScore(mean, bootstrap.interquartile([list(part.values()) for part in parts]))


def _gap(own: Sequence[_ByDeal], others: Sequence[_ByDeal]) -> Estimate | None:
    first, second = _over_lineups(own), _over_lineups(others)
    return mean_estimate([first[deal] - second[deal] for deal in sorted(first.keys() & second.keys())])


def _over_lineups(parts: Sequence[_ByDeal]) -> _ByDeal:
    return _means([(deal, value) for part in parts for deal, value in part.items()])


def _by_deal(records: Sequence[GameRecord], name: str, names: Sequence[str]) -> _ByDeal:
    lost = [] if name != names[-1] else [(r.deal_seed, 0.0) for r in records if r.outcome is None]
    return _means(lost + [(r.deal_seed, float(r.outcome[name])) for r in records if r.outcome is not None])


def _means(values: Sequence[tuple[int, float]]) -> _ByDeal:
    by_deal: dict[int, list[float]] = {}
    for deal, value in sorted(values):
        by_deal.setdefault(deal, []).append(value)
    return {deal: fmean(found) for deal, found in by_deal.items()}


def _shares(
    groups: Mapping[Lineup, Sequence[GameRecord]], names: Sequence[str], agents: Sequence[str]
) -> Iterator[Shared]:
    alone = {lineup[0]: lineup for lineup in groups if len(set(lineup)) == 1}
    for one, two in combinations([name for name in agents if name in alone], 2):
        both = [lineup for lineup in groups if set(lineup) == {one, two}]
        scores = {agent: _by_deal(groups[alone[agent]], names[0], names) for agent in (one, two)}
        if not both or not all(scores.values()):
            continue
        weak, strong = sorted((one, two), key=lambda agent: fmean(scores[agent].values()))
        for lineup in sorted(both, key=lambda found: found.count(strong)):
            found = {}
            for name in names:
                mixed, low, high = (_by_deal(groups[of], name, names) for of in (lineup, alone[weak], alone[strong]))
                found[name] = bootstrap.interpolation(mixed, low, high)
            yield Shared(weak, strong, lineup.count(strong), found)
