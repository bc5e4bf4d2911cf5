"""What the report and the terminal show of a tournament: its tables, and games to read."""

from dataclasses import dataclass

from arena.agents.specs import AgentSpec, AgentSpecError
from arena.matches import replay
from arena.matches.game_source import game_info
from arena.matches.match import GameRecord
from arena.matches.plan import TournamentConfig
from arena.matches.tournament import TournamentResult
from arena.report.data import ArenaView, Replay
from games.api import Game, GameError


@dataclass(frozen=True)
class Shown:
    """What a page shows of the matches of a run.

    Attributes:
        arenas: tournaments.
        replays: the first finished game of each lineup, as text.
    """

    arenas: tuple[ArenaView, ...] = ()
    replays: tuple[Replay, ...] = ()


def of(game: Game | None, result: TournamentResult | None) -> Shown:
    """Returns what is shown of a run's matches.

    Args:
        game: the true game, None if nobody has it.
        result: the matches, None if none were played.
    """
    if game is None or result is None:
        return Shown()
    return Shown((view("Matches", result.config, result),), tuple(replays(game, result)))


def view(title: str, config: TournamentConfig, result: TournamentResult) -> ArenaView:
    """Returns what the report and the terminal show of a tournament."""
    missing: dict[str, int] = {}
    for messages in result.missing.values():
        for message in messages[-1:]:
            missing[message] = missing.get(message, 0) + 1
    return ArenaView(
        title=title,
        table=result.table,
        table_without_forfeits=result.table_without_forfeits,
        settings=(
            ("deals a lineup", str(config.deals)),
            ("seed", str(config.seed)),
            *((spec.name, _describe(spec)) for spec in config.agents),
        ),
        missing=missing,
        payoffs=payoffs(config.game),
    )


def payoffs(game: str) -> tuple[float, float] | None:
    """Returns the lowest and the highest return of a game, None where nobody knows it any more."""
    try:
        info = game_info(game)
    except (GameError, AgentSpecError):
        return None
    return info.min_utility, info.max_utility


def _describe(spec: AgentSpec) -> str:
    settings = [f"{key}={value}" for key, value in (spec.planner | spec.llm).items()]
    model = [] if spec.model_hash is None else [f"model {spec.model_hash[:12]}"]
    return ", ".join([spec.kind, f"view {spec.view}", *model, *settings])


def replays(game: Game, result: TournamentResult) -> list[Replay]:
    """Returns the first finished game of each lineup as text."""
    shown: dict[tuple[str, ...], GameRecord] = {}
    for record in result.records:
        shown.setdefault(tuple(sorted(record.seats)), record)
    return [Replay(" with ".join(record.seats), replay.as_text(game, record)) for record in shown.values()]
