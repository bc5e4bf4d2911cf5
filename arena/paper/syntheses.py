"""The syntheses behind the tables: replayed from recorded completions, or asked of a live model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena import run_inputs, run_model, run_report, shipped
from arena.paper.paper_games import Variant
from arena.paper.places import Place
from arena.paper.settings import Asked
from arena.run_settings import RunSettings, by_way, standard_settings
from arena.synthesis_run import SynthesisRun, open_record
from cwm.functions import value
from cwm.llm import recordings
from cwm.llm.caps import Caps
from cwm.synthesis.events import OnEvent, ignore


def settings_of(game: str, variant: Variant, seed: int, asked: Asked) -> RunSettings | None:
    """Returns the settings of a synthesis, None if it was not recorded and no live model is to be asked.

    What decides the prompts is as it was when the recordings were made; evaluation and matches are not the run's. There
    is no policy prior: the paper's planner has none. Value functions are asked for where the recording holds some.
    """
    settings = standard_settings(game, asked.llm, asked.base_url, seed)
    settings = replace(settings, matches=None, planner_games=0, prior=None)
    if variant != "tree":
        settings = by_way(settings, variant)
    if asked.llm is not None:
        return settings
    seeds = recordings.bundled_seeds(settings.recorded)
    if seed not in seeds:
        return None
    name = recordings.name_of(settings.recorded, seed)
    if not any(record.request.purpose == value.KIND.name for record in recordings.load(name).records):
        settings = replace(settings, value=None)
    # Runs by default are known by a recording with seed 0; another one is named.
    return settings if 0 in seeds else replace(settings, llm=f"replay:{name}")


def run(
    place: Place,
    settings: RunSettings,
    caps: Caps,
    workers: int,
    on_event: OnEvent = ignore,
    on_stage: Callable[[str], None] = lambda text: None,
) -> None:
    """Makes the model of one synthesis, unless it is finished; a killed one goes on.

    Raises:
        LanguageModelError: the model, or its recording, gave no answer.
        RunRecordError: the folder is in use or damaged.
    """
    if finished(place.folder):
        return
    run_model.check(settings, caps)
    settings = shipped.settings_for(settings)
    inputs = run_inputs.registered(settings.game, settings.train_games, settings.seed)
    with open_record(place.folder, settings, inputs, caps) as record:
        made = SynthesisRun(record, settings, inputs, caps, workers, None, on_event, on_stage).model()
        run_report.write_result(place.folder, made)


def finished(folder: Path) -> bool:
    """Whether a synthesis has come to its result."""
    return bool(run_report.read_result(folder))


def result(folder: Path) -> dict[str, Any] | None:
    """Returns what the synthesis of a folder came to, None if it is not finished."""
    found = run_report.read_result(folder)
    return found.get("synthesis") if found else None
