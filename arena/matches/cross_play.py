"""Self-play and cross-play of independent agents: how well do strangers play together, beside each with itself?

Everything is played on common deals, so that differences are taken deal by deal. Figures as in the Yōkai Learning
Environment paper (section 6): cross-play is the mean over lineups of agents that are not all the same.
"""

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from arena.agents.specs import AgentSpec
from arena.figures.intervals import Estimate, crossed_estimate, jackknife_estimate, mean_estimate
from arena.figures.metrics import Cooperation
from arena.language_players.models import PlayerModels
from arena.machine.runtime import Runtime
from arena.matches import tournament
from arena.matches.game_source import game_info
from arena.matches.match import GameRecord, NamedDeck
from arena.matches.plan import TournamentConfig, TournamentError
from arena.matches.ratings import LineupResult, Standings, cooperation, standings
from arena.matches.tournament import Progress
from cwm.storage.keys import derive

TWO: Final = 2
MOST_LINEUPS: Final = 30
"""With more than two seats there are many lineups of agents: if more than so many, that number is drawn."""

Lineup = tuple[int, ...]


@dataclass(frozen=True)
class CrossPlayConfig:
    """What is played.

    Attributes:
        game: registry id.
        agents: with distinct names; their models are independent of each other.
        games: at least so many a lineup, over all its seatings.
        seed: of the deals, and of the choice of lineups.
        runtime: limits of programs that are not trusted.
        chosen: lineups that are played, by index; None for `lineups`' own choice.
        decks: what is dealt, each deck once in every seating, in place of `games` deals by seed; () for seeds.
    """

    game: str
    agents: tuple[AgentSpec, ...]
    games: int = 40
    seed: int = 0
    runtime: Runtime = field(default_factory=Runtime)
    chosen: tuple[Lineup, ...] | None = None
    decks: tuple[NamedDeck, ...] = ()

    def lineups(self) -> list[Lineup]:
        """Returns every agent with itself, then the lineups of different agents, by index."""
        if self.chosen is not None:
            return list(self.chosen)
        players = game_info(self.game).num_players
        own = [(index,) * players for index in range(len(self.agents))]
        mixed = [
            found for found in combinations_with_replacement(range(len(self.agents)), players) if len({*found}) > 1
        ]
        if players > TWO and len(mixed) > MOST_LINEUPS:
            mixed = sorted(random.Random(derive("lineups", self.seed)).sample(mixed, MOST_LINEUPS))
        return [*own, *mixed]

    def tournaments(self) -> dict[str, TournamentConfig]:
        """Returns one tournament for all lineups with the same number of seatings, prepared, by name.

        Raises:
            TournamentError: there are no agents or no games.
            AgentSpecError: an agent does not fit the game.
        """
        if self.games < 1:
            raise TournamentError(f"Cross-play needs at least one game a lineup, not {self.games}.")
        by_seatings: dict[int, list[Lineup]] = {}
        for lineup in self.lineups():
            by_seatings.setdefault(_seatings(lineup), []).append(lineup)
        return {
            f"{seatings}-seatings": tournament.prepare(
                TournamentConfig(
                    game=self.game,
                    agents=self.agents,
                    deals=len(self.decks) or -(-self.games // seatings),
                    seed=self.seed,
                    lineups=tuple(lineups),
                    runtime=self.runtime,
                    decks=self.decks,
                )
            )
            for seatings, lineups in sorted(by_seatings.items())
        }


@dataclass(frozen=True)
class CrossPlay:
    """What came of it; a function of the games alone, but for the times.

    Attributes:
        table: standings over all games, with every lineup and, for two players, the matrix of R.
        self_play: cooperative figures of all games of agents with themselves; None if the game reports no outcomes.
        cross_play: the same of all games of different agents; None too if there is one agent alone.
        gap: R in self-play less R in cross-play, deal by deal; None where one of them is missing.
        over_lineups: R in cross-play with a lineup as the independent unit; None likewise.
        seconds: mean wall-clock seconds of a move, over all agents.
        missing: games that ours kept breaking, with the messages.
        played: games played now.
    """

    table: Standings
    self_play: Cooperation | None
    cross_play: Cooperation | None
    gap: Estimate | None
    over_lineups: Estimate | None
    seconds: float | None
    missing: dict[str, list[str]]
    played: int
    records: tuple[GameRecord, ...] = field(repr=False, default=())

    def lineups(self, alone: bool) -> list[LineupResult]:
        """Returns the lineups of agents with themselves, or those of different agents."""
        return [result for result in self.table.lineups if (len(set(result.lineup)) == 1) == alone]

    def to_json(self) -> dict[str, Any]:
        """Returns everything but the games."""
        rest = asdict(replace(self, records=())) | {"table": self.table.to_json()}
        return {key: value for key, value in rest.items() if key != "records"}


def run(
    config: CrossPlayConfig,
    folder: Path | None,
    workers: int = 1,
    on_game: Callable[[Progress], None] | None = None,
    models: PlayerModels | None = None,
) -> CrossPlay:
    """Plays what is missing and returns the figures.

    Args:
        config: what to play.
        folder: keeps the games, so that a run goes on after a kill; None keeps them in memory.
        workers: processes; they change no result.
        on_game: told after each game, with the counts over all lineups.
        models: language models of the players; None for some without caps, whose calls nobody keeps.

    Raises:
        TournamentError: there is nothing to play.
        AgentSpecError: an agent does not fit the game.
        StoreError: the folder is in use, damaged, or of other games.
    """
    prepared = config.tournaments()
    total = sum(len(tournament.plan(part)) for part in prepared.values())
    records: list[GameRecord] = []
    missing: dict[str, list[str]] = {}
    played = 0
    for name, part in prepared.items():
        before = len(records)

        def progress(state: Progress, before: int = before) -> None:
            if on_game is not None:
                on_game(Progress(before + state.done, total, state.record))

        part_folder = None if folder is None else folder / name
        result = tournament.open_and_run(part_folder, part, workers=workers, on_game=progress, models=models)
        records.extend(result.records)
        missing |= result.missing
        played += result.played
    return summary(config, records, missing, played)


def summary(
    config: CrossPlayConfig, records: Sequence[GameRecord], missing: dict[str, list[str]], played: int
) -> CrossPlay:
    """Returns the figures of finished games."""
    info = game_info(config.game)
    alone = [record for record in records if len(set(record.seats)) == 1]
    mixed = [record for record in records if len(set(record.seats)) > 1]
    table = standings(records, info, [spec.name for spec in config.agents])
    together = info.utility == "identical" and all(r.outcome is not None for r in records if r.forfeit is None)
    of_lineups = [r.cooperation.score.mean for r in table.lineups if r.cooperation and len(set(r.lineup)) > 1]
    seconds = [value for record in records for seat in record.seconds for value in seat]
    return CrossPlay(
        table=table,
        self_play=cooperation(alone) if together else None,
        cross_play=cooperation(mixed) if together else None,
        gap=_gap(alone, mixed) if together else None,
        over_lineups=mean_estimate(of_lineups),
        seconds=fmean(seconds) if seconds else None,
        missing=missing,
        played=played,
        records=tuple(records),
    )


def over_agents(found: CrossPlay) -> Estimate | None:
    """Returns R in cross-play with an agent as the independent unit, None for fewer than three agents.

    Lineups that share an agent are alike, so the error is that of leaving out one agent at a time, with all its
    lineups.
    """
    scores = [
        (set(result.lineup), result.cooperation.score.mean)
        for result in found.lineups(alone=False)
        if result.cooperation is not None
    ]
    agents = sorted(set[str]().union(*(lineup for lineup, _ in scores)))

    def mean_without(agent: Hashable | None) -> float | None:
        kept = [score for lineup, score in scores if agent not in lineup]
        return fmean(kept) if kept else None

    return jackknife_estimate(mean_without, [agents]) if len(agents) > TWO else None


def gap_over_agents(found: CrossPlay) -> Estimate | None:
    """Returns the gap with an agent as the independent unit, as `over_agents` does; every agent met itself, too."""
    scores = [(set(r.lineup), r.cooperation.score.mean) for r in found.table.lineups if r.cooperation is not None]
    agents = sorted(set[str]().union(*(lineup for lineup, _ in scores if len(lineup) == 1)))

    def gap_without(agent: Hashable | None) -> float | None:
        own = [score for lineup, score in scores if len(lineup) == 1 and agent not in lineup]
        others = [score for lineup, score in scores if len(lineup) > 1 and agent not in lineup]
        return fmean(own) - fmean(others) if own and others else None

    return jackknife_estimate(gap_without, [agents]) if len(agents) > TWO else None


def for_others_like_them(found: CrossPlay) -> tuple[Estimate | None, Estimate | None]:
    """Returns R in cross-play and the gap with errors that hold for other agents of their kind on other deals (`n`).

    None where there are fewer than three agents or two deals.
    """
    score = None if found.cross_play is None else found.cross_play.score
    return crossed_estimate([score, over_agents(found)]), crossed_estimate([found.gap, gap_over_agents(found)])


def _seatings(lineup: Lineup) -> int:
    return len({(*lineup[shift:], *lineup[:shift]) for shift in range(len(lineup))})


def _gap(alone: Sequence[GameRecord], mixed: Sequence[GameRecord]) -> Estimate | None:
    """Returns the mean over common deals of R with oneself less R with others."""
    own, others = _score_by_deal(alone), _score_by_deal(mixed)
    return mean_estimate([own[deal] - others[deal] for deal in sorted(own.keys() & others.keys())])


def _score_by_deal(records: Sequence[GameRecord]) -> dict[int, float]:
    """Returns R by deal: the mean over lineups of the mean over their games, so that every lineup counts the same."""
    scores: dict[int, dict[tuple[str, ...], list[float]]] = {}
    for record in records:
        scores.setdefault(record.deal_seed, {}).setdefault(tuple(sorted(record.seats)), []).append(record.won_score)
    return {deal: fmean(map(fmean, lineups.values())) for deal, lineups in scores.items()}
