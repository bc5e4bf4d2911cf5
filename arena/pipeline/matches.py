"""Matches of a finished model: with itself, with random, with the planner on the true game."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from arena.agents.model import planner_settings
from arena.agents.specs import AgentSpec
from arena.machine.runtime import Runtime
from arena.matches import tournament
from arena.matches.plan import TournamentConfig
from arena.matches.store import FILE_NAME, read, write_standings
from arena.matches.tournament import Progress, TournamentResult
from arena.runs.settings import MatchSettings, RunSettings
from cwm.model.bundle import ModelBundle
from games.api import EstimatesValue, Game
from search.api import PlannerConfig

FOLDER = "matches"
MODEL_AGENT = "cwm"
"""Name of the planner on the finished model."""


def prepare(
    game: Game, model: Path, bundle: ModelBundle, settings: RunSettings, matches: MatchSettings, config: PlannerConfig
) -> TournamentConfig:
    """Returns the tournament of a run's matches.

    Args:
        game: the true game.
        model: folder of the model.
        bundle: the model.
        settings: of the run.
        matches: deals.
        config: settings of both planners; the leaf is a value function where there is one, and the model's planner
            plays with the prior that was chosen for it.
    """
    on_model = planner_settings(bundle, config).to_json()
    on_game = replace(config, leaf="value" if isinstance(game, EstimatesValue) else "rollout").to_json()
    del on_model["algorithm"], on_game["algorithm"]
    agents = (
        AgentSpec("cwm", MODEL_AGENT, planner=on_model, model=str(model)),
        AgentSpec("random", "random"),
        AgentSpec(config.algorithm, "true-game planner", planner=on_game),
    )
    others = game.info.num_players - 1
    lineups = [(0, *[other] * others) for other in range(len(agents))]
    return tournament.prepare(
        TournamentConfig(
            game=settings.game,
            agents=agents,
            deals=matches.deals,
            seed=settings.seed,
            lineups=(*lineups, (2, *[2] * others)),
            runtime=Runtime(level=settings.level),
        )
    )


def play(
    folder: Path, prepared: TournamentConfig, workers: int, on_game: Callable[[Progress], None] | None = None
) -> TournamentResult:
    """Plays what is missing of the matches and returns all of them.

    Args:
        folder: of the run; the games are kept in it.
        prepared: see `prepare`.
        workers: processes.
        on_game: called after each game.
    """
    with tournament.opened(folder / FOLDER, prepared.to_json()) as games:
        result = tournament.run(prepared, games, workers=workers, on_game=on_game)
        write_standings(folder / FOLDER, result.table.to_json())
        return result


def stored(folder: Path, prepared: TournamentConfig) -> TournamentResult | None:
    """Returns the matches that were played so far, also while another process plays on; None if none was played.

    Raises:
        StoreError: the file of games is damaged, or of other settings.
    """
    if not (folder / FOLDER / FILE_NAME).exists():
        return None
    result = tournament.stored(prepared, read(folder / FOLDER, prepared.to_json()))
    return result if result.records else None
