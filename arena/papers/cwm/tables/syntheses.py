"""The syntheses behind the tables: replayed from recorded completions, or asked of a live model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena.machine import shipped as shipped_models
from arena.machine.runtime import Runtime
from arena.matches.rejection import Contestant, RejectionConfig, RejectionTournament
from arena.papers.cwm.published.games import BY_ID, Variant
from arena.papers.cwm.tables import matches, syntheses
from arena.papers.cwm.tables.places import Place
from arena.papers.cwm.tables.settings import PaperWishes, Scale
from arena.pipeline.synthesis import SynthesisRun
from arena.report import run_report
from arena.runs import inputs as run_inputs
from arena.runs import language_model, shipped
from arena.runs.folder import capped, open_record, read_result
from arena.runs.replayed import recorded_settings
from arena.runs.settings import RunSettings
from arena.runs.standard import by_way, standard_settings
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.caps import Caps
from cwm.model.bundle import ModelBundle
from cwm.record.record import RUN_FILE, RunRecord
from cwm.storage import stored_json
from cwm.storage.files import write_whole
from cwm.storage.journal import Journal
from cwm.synthesis.events import OnEvent, ignore


def settings_of(game: str, variant: Variant, seed: int, asked: PaperWishes) -> RunSettings | None:
    """Returns the settings of a synthesis, None if it was not recorded and no live model is to be asked.

    What decides the prompts is as it was when the recordings were made; evaluation and matches are not the run's. There
    is no policy prior: the paper's planner has none. Value functions are asked for where the recorded run did, and of a
    live model for every game.
    """
    if asked.llm is not None:
        settings = standard_settings(game, asked.llm, asked.base_url, seed)
        settings = replace(settings, matches=None, planner_games=0, prior=None, **asked.how_asked)
        settings = settings if variant == "tree" else by_way(settings, variant)
        return settings.with_budget(asked.tournament_budget)
    usual = RunSettings(game, registered=True, seed=seed)
    usual = usual if variant == "tree" else by_way(usual, variant)
    seeds = recordings.bundled_seeds(usual.recorded)
    if seed not in seeds:
        return None
    # Runs by default are known by a recording with seed 0; another one is named.
    named = usual if 0 in seeds else replace(usual, llm=f"replay:{recordings.name_of(usual.recorded, seed)}")
    recorded = recorded_settings(named, seed)
    return None if recorded is None else replace(recorded, planner_games=0, prior=None)


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
    language_model.check(settings, caps)
    settings = shipped.settings_for(settings)
    inputs = run_inputs.played(settings)
    caps = capped(place.folder, caps)
    with open_record(place.folder, settings, inputs, caps) as record:
        made = SynthesisRun(record, settings, inputs, caps, workers, None, on_event, on_stage).model()
        run_report.write_result(place.folder, made)


def finished(folder: Path) -> bool:
    """Whether a synthesis has come to its result."""
    return bool(read_result(folder))


def result(folder: Path) -> dict[str, Any] | None:
    """Returns what the synthesis of a folder came to, None if it is not finished."""
    found = read_result(folder)
    return found.get("synthesis") if found else None


def by_specification(folder: Path) -> bool:
    """Whether the synthesis of a folder was told its game by the specification."""
    if not (folder / RUN_FILE).exists():
        return False
    with RunRecord.read(folder) as record:
        return RunSettings.from_record(record.info.config).rules_detail == "specification"


FEWEST: Final = 3
"""With two hosts, two models would judge each other alone."""
MATCHES_FILE: Final = "rejection-{variant}.sqlite"
RESULT_FILE: Final = "rejection-{variant}.json"


@dataclass(frozen=True)
class _Kept:
    """Keeps the matches of a comparison in a journal."""

    journal: Journal

    def game(self, key: str) -> Any | None:
        return self.journal.get("games", key)

    def put_game(self, key: str, payload: Any) -> bool:
        return self.journal.put("games", key, payload)


def choose(
    places: Sequence[Place], scale: Scale, seed: int, workers: int, on_match: Callable[[int, int], None]
) -> list[Place]:
    """Returns the syntheses of one game and kind that are played: all but the rejected ones.

    Nothing is rejected where nothing is hidden, as in the paper, nor among fewer than three models.

    Args:
        places: finished syntheses, by seed.
        scale: simulations and rollouts of the planners; repetitions are half as many as matches a seat.
        seed: of the comparison.
        workers: matches at once.
        on_match: told how many matches are finished, and of how many.

    Raises:
        TesterError: a match could not be played through no fault of the models.
    """
    if len(places) < FEWEST or not BY_ID[places[0].game].hidden:
        return list(places)
    root, game, variant = places[0].root, places[0].game, places[0].variant
    known = rejected(root, game, variant)
    if known is None:
        known = _compare(places, scale, seed, workers, on_match)
    return [place for place in places if place.seed not in known]


def work(game: str, syntheses_played: int) -> float:
    """Returns the matches of a comparison for each deal, in units of the four that two opponents and two seats make."""
    compared = BY_ID[game].hidden and syntheses_played >= FEWEST
    # Two hosts, every model at either seat, and half as many repetitions as deals.
    return syntheses_played**2 / 4 if compared else 0.0


def rejected(root: Path, game: str, variant: Variant) -> list[int] | None:
    """Returns the seeds of the rejected syntheses, None if none were compared.

    Raises:
        UsageError: the file that says so is damaged.
    """
    path = root / game / RESULT_FILE.format(variant=variant)
    return stored_json.read_if_there(
        path,
        lambda result: [int(row["name"]) for row in result["standings"] if row["rejected"]],
        UsageError,
        "delete it, and it is made anew",
    )


def _compare(
    places: Sequence[Place], scale: Scale, seed: int, workers: int, on_match: Callable[[int, int], None]
) -> list[int]:
    folder, variant = places[0].root / places[0].game, places[0].variant
    contestants = [_contestant(place) for place in places]
    config = RejectionConfig(
        repetitions=max(1, scale.deals // 2), simulations=scale.simulations, rollouts=scale.rollouts, seed=seed
    )
    level = shipped_models.level_of([item.bundle.hash for item in contestants])
    tournament = RejectionTournament(
        contestants, matches.planner(places[0].game, scale), config, Runtime(level, matches.MOVE_SECONDS), workers
    )
    journal = Journal(folder / MATCHES_FILE.format(variant=variant))
    try:
        found = tournament.run(_Kept(journal), on_match)
    finally:
        journal.close()
    text = json.dumps(found.to_json(), indent=1, sort_keys=True, allow_nan=False) + "\n"
    write_whole(folder / RESULT_FILE.format(variant=variant), text)
    return [int(item.name) for item in found.standings if item.rejected]


def _contestant(place: Place) -> Contestant:
    made = syntheses.result(place.folder) or {}
    rates = list(made.get("accuracy", {}).values())
    return Contestant(str(place.seed), ModelBundle.load(place.folder), sum(rates) / len(rates) if rates else None)
