"""`cwm demo`: the main job on one game, from rules to arena, with recorded completions or a real model."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from arena import console, run_inputs
from arena.commands.synthesize import MaxCalls, MaxMinutes, MaxMoney, MaxTokens, PriceIn, PriceOut, finish
from arena.options import AsJson, BaseUrl, ModelSpec, RunFolder, Seed, Workers
from arena.run_settings import DEFAULT_LLM, Caps, MatchSettings, RunSettings
from arena.synthesis_run import open_record
from cwm.synthesis_config import SynthesisConfig
from cwm.value_function import ValueConfig

GAME = "yokai-9c-2p"
TRAIN_GAMES = 5
VALUE_CANDIDATES = {"yokai-9c-2p": 3}
"""Value functions asked for, by game; none for games whose ends are near enough for rollouts."""


def settings_for(game: str, registered: bool, llm: str | None, base_url: str | None, seed: int) -> RunSettings:
    """Returns the settings that the recordings were made with, matches added."""
    candidates = VALUE_CANDIDATES.get(game, 0)
    return RunSettings(
        game=game,
        registered=registered,
        llm=llm or DEFAULT_LLM,
        base_url=base_url,
        seed=seed,
        train_games=TRAIN_GAMES,
        synthesis=SynthesisConfig(seed=seed),
        value=ValueConfig(num_candidates=candidates, seed=seed) if candidates else None,
        matches=MatchSettings(),
    )


def command(
    game: Annotated[str, typer.Argument(help="Id of a registered game.")] = GAME,
    llm: ModelSpec = None,
    base_url: BaseUrl = None,
    run: RunFolder = None,
    seed: Seed = 0,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_money: MaxMoney = None,
    max_minutes: MaxMinutes = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Play five random games, have them and the rules turned into a program, test it, and play it in the arena."""
    inputs = run_inputs.registered(game, TRAIN_GAMES, seed)
    settings = settings_for(game, True, llm, base_url, seed)
    caps = Caps(max_calls, max_tokens, max_money, max_minutes, price_in, price_out)
    folder = run or Path("runs") / f"demo-{game}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    console.notices.print(f"{TRAIN_GAMES} random games of {game} played; run folder {folder}")
    with open_record(folder, settings, inputs, caps) as record:
        finish(record, settings, inputs, caps, workers, None, as_json)
