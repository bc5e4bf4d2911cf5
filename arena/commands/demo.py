"""`cwm demo`: the main job on one game, from rules to arena, with recorded completions or a real model."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.finishing import finish
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped
from arena.runs.folder import capped, open_record
from arena.runs.standard import standard_settings
from arena.terminal import console
from arena.terminal.options import (
    NO_CAPS,
    AsJson,
    BaseUrl,
    Effort,
    ModelSpec,
    Seed,
    Temperature,
    TournamentBudget,
    Workers,
    takes_caps,
)
from cwm.llm.caps import Caps
from cwm.llm.line import effort_of

GAME = "yokai-9c-2p"


@takes_caps
def command(
    game: Annotated[str, typer.Argument(help="Id of a registered game.")] = GAME,
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    reasoning_effort: Effort = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="Folder of the run; default: a new one, runs/demo-GAME-TIME.")
    ] = None,
    seed: Seed = 0,
    tournament_budget: TournamentBudget = None,
    caps: Caps = NO_CAPS,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Play five random games, have them and the rules turned into a program, test it, and play it in the arena."""
    settings = standard_settings(game, llm, base_url, seed)
    if temperature is not None:
        settings = replace(settings, temperature=temperature)
    if reasoning_effort is not None:
        settings = replace(settings, reasoning_effort=effort_of(reasoning_effort))
    settings = settings.with_budget(tournament_budget)
    inputs = run_inputs.played(settings)
    language_model.check(settings, caps)
    settings = shipped.settings_for(settings)
    folder = run or Path("runs") / f"demo-{game}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    console.notices.print(f"{settings.train_games} random games of {game} played; run folder {folder}")
    caps = capped(folder, caps)
    with open_record(folder, settings, inputs, caps) as record:
        finish(record, settings, inputs, caps, workers, None, as_json)
    console.notices.print(
        f"Shown: a language model read the rules and {settings.train_games} games of {game} and wrote the game as a "
        f"program, which was tested on games it had not seen and on which a planner played the true game; the whole "
        f"story is the page {record.report_path}."
    )
