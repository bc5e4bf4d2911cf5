"""Every kind of player with itself and with every other on common deals, as one cross-play table.

Games of a language model that ship with the project are scored anew by the true rules and stand in the same table;
they were played on deals of their own, so they are told apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.comparison import team_figures
from arena.comparison.contenders import PRIOR, Contender
from arena.comparison.team_figures import TeamFigures
from arena.language_players.models import PlayerModels
from arena.machine.runtime import Runtime
from arena.matches import cross_play, recorded_games
from arena.matches.cross_play import CrossPlayConfig
from arena.matches.game_source import game_info, open_game
from arena.matches.match import GameRecord
from arena.matches.ratings import AgentResult, Lineup, LineupResult, Standings, lineup_of, standings
from arena.matches.recorded_games import LLM, MODEL
from arena.matches.tournament import Progress

NOT_PLAYED = "not played"


@dataclass(frozen=True)
class ComparisonConfig:
    """What is compared.

    Attributes:
        game: registry id.
        contenders: with distinct names; also those that do not play.
        games: at least so many a lineup, over all its seatings.
        seed: of the deals.
        runtime: limits of programs that are not trusted.
    """

    game: str
    contenders: tuple[Contender, ...]
    games: int
    seed: int = 0
    runtime: Runtime = field(default_factory=Runtime)

    def parts(self) -> dict[str, CrossPlayConfig]:
        """Returns what is played, by the name of its folder: first without a language model, then with it.

        Games that a language model plays run in threads of one process, so the others are kept apart from them.
        """
        agents = tuple(found.spec for found in self.contenders if found.spec is not None)
        programs = tuple(spec for spec in agents if not spec.traits.asks)
        found = {}
        if programs:
            found["programs"] = CrossPlayConfig(self.game, programs, self.games, self.seed, self.runtime)
        if len(programs) < len(agents):
            asked = {index for index, spec in enumerate(agents) if spec.traits.asks}
            every = CrossPlayConfig(self.game, agents, self.games, self.seed, self.runtime)
            chosen = tuple(lineup for lineup in every.lineups() if asked & set(lineup))
            found["language-model"] = replace(every, chosen=chosen)
        return found


@dataclass(frozen=True)
class Comparison:
    """What came of it; a function of the games alone, but for the times.

    Attributes:
        config: what was compared.
        table: standings over all games, recorded ones too; its agents are all contenders.
        agents: each over the games that were played for this table; a player of recorded games alone over those.
        recorded: lineups whose games ship with the project and were played on deals of their own.
        missing: games that could not be played, with the messages.
        played: games played now.
        teams: scores and course of the games, of a game that has such figures; None of others.
    """

    config: ComparisonConfig
    table: Standings
    agents: tuple[AgentResult, ...]
    recorded: frozenset[Lineup]
    missing: dict[str, list[str]]
    played: int
    teams: TeamFigures | None = None

    def lineups(self) -> list[LineupResult]:
        """Returns the lineups with games, those of one kind first, in the order of the players."""
        places = {found.name: place for place, found in enumerate(self.config.contenders)}

        def place(result: LineupResult) -> tuple[bool, list[int]]:
            return len(set(result.lineup)) > 1, sorted(places[name] for name in result.lineup)

        return sorted(self.table.lineups, key=place)

    def why_not(self, lineup: Lineup) -> str:
        """Returns why a lineup has no games."""
        absent = [found for found in self.config.contenders if found.name in lineup and found.view is None]
        return NOT_PLAYED if not absent else str(absent[0].absent)

    def views(self, lineup: Lineup) -> str:
        """Returns what the players of a lineup are shown, in the order of their names."""
        shown = {found.name: found.view for found in self.config.contenders}
        return " + ".join(shown[name] or "–" for name in lineup)

    def to_json(self) -> dict[str, Any]:
        """Returns the tables as JSON."""
        return {
            "game": self.config.game,
            "games": self.config.games,
            "seed": self.config.seed,
            "sandbox": self.config.runtime.level,
            "contenders": [
                asdict(found) | {"spec": None if found.spec is None else found.spec.to_json()}
                for found in self.config.contenders
            ],
            "table": self.table.to_json(),
            "agents": [asdict(agent) for agent in self.agents],
            "recorded": sorted(self.recorded),
            "missing": self.missing,
            "played": self.played,
            **({} if self.teams is None else {"teams": self.teams.to_json()}),
        }


def run(
    config: ComparisonConfig,
    folder: Path | None,
    workers: int = 1,
    on_game: Callable[[Progress], None] | None = None,
    models: PlayerModels | None = None,
) -> Comparison:
    """Plays what is missing and returns the tables; arguments and errors as for `cross_play.run`."""
    records: list[GameRecord] = []
    missing: dict[str, list[str]] = {}
    played = 0
    for name, part in config.parts().items():
        found = cross_play.run(part, None if folder is None else folder / name, workers, on_game, models)
        records += found.records
        missing |= found.missing
        played += found.played
    return summary(config, records, missing, played)


def summary(
    config: ComparisonConfig, records: Sequence[GameRecord], missing: dict[str, list[str]], played: int
) -> Comparison:
    """Returns the tables of finished games, with the recorded ones that fit in."""
    info = game_info(config.game)
    names = [found.name for found in config.contenders]
    kept = _recorded(config)
    now = {result.agent: result for result in standings(records, info, names).agents}
    then = {result.agent: result for result in standings(kept, info, names).agents}
    with open_game(config.game) as game:
        teams = team_figures.figures(game, [*records, *kept], names)
    asked_now = {found.name for found in config.contenders if found.spec is not None}
    return Comparison(
        config=config,
        table=standings([*records, *kept], info, names),
        agents=tuple((now if name in asked_now else then)[name] for name in names),
        recorded=frozenset(map(lineup_of, kept)),
        missing=missing,
        played=played,
        teams=teams,
    )


def _recorded(config: ComparisonConfig) -> list[GameRecord]:
    """Returns the games of a language model that ship, unless one plays now; the planner in them had its prior."""
    kinds = {found.name: found for found in config.contenders}
    if LLM not in kinds or kinds[LLM].spec is not None:
        return []
    found = []
    for record in recorded_games.every_game(config.game):
        seats = tuple(PRIOR if name == MODEL else name for name in record.seats)
        if set(seats) <= set(kinds):
            found.append(replace(record, seats=seats))
    return found
