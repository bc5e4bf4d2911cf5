"""The recordings that ship with the project: each leads to an exact model, with no call and none of our code in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.pipeline import recorded_models
from arena.pipeline.synthesis import Outcome, SynthesisRun
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record
from arena.runs.settings import RunSettings, standard_settings
from cwm.interface.answers import blocks
from cwm.llm import recordings
from cwm.llm.caps import Caps
from cwm.quality.similarity import longest_shared_runs, source_files

ROOT = Path(__file__).parents[3]
GAMES = recordings.bundled_games()
NAMES = recordings.bundled_names()
LONG = (
    *("backgammon", "gin_rummy", "gin_rummy+closed", "backgammon+conversation"),
    *("yokai-9c-3p", "yokai-9c-4p", "yokai-16c-2p"),
)
"""Their players search for minutes, or their games are long."""


def long_ones_slow(names: list[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in names]


ALONE = {"value": None, "prior": None}
"""The model without functions beside it."""
OUR_OWN_SIGNATURE = 30
"""The prompt shows the signatures of the functions: a shared run may be as long as the longest of them."""
OF_THE_RULES = {"army5x5a": 45, "hand_of_war": 40}
"""More where the rules name data that everybody writes alike: the steps of a piece one by one, the parts of a view."""


def replayed(game: str, folder: Path, **changes: Any) -> tuple[Outcome, SynthesisRun]:
    settings: RunSettings = replace(standard_settings(game, None, None, recorded_models.SEED), matches=None, **changes)
    inputs = run_inputs.registered(game, settings.train_games, settings.seed)
    with open_record(folder, settings, inputs, Caps()) as record:
        run = SynthesisRun(record, settings, inputs, Caps(), workers=1)
        return run.run(), run


def test_a_recording_ships_for_every_kind_of_game() -> None:
    assert {"tic_tac_toe", "connect_four", "leduc_poker", "yokai-9c-2p", "bargaining", "quadranto"} <= set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_a_recording_names_its_model_and_date(game: str) -> None:
    summary = recordings.load(game).summary()
    assert summary["game"] == game
    assert summary["models"]
    assert all(summary["models"])
    assert summary["first_date"] >= "2026"


@pytest.mark.parametrize("game", long_ones_slow(GAMES))
def test_a_recorded_model_is_exact_in_training_and_on_held_out_games(game: str, tmp_path: Path) -> None:
    outcome, _ = replayed(game, tmp_path, **ALONE, test_transitions=150, planner_games=1)
    assert outcome.exact
    assert outcome.synthesis.calls <= len(recordings.load(game).records)
    for split, found in outcome.evaluations.items():
        for kind, tally in found["kinds"].items():
            assert tally["accuracy"] == 1.0, (split, kind, found["failures"])
        assert found["fields"]["final_scores"]["accuracy"] == 1.0


@pytest.mark.parametrize("name", long_ones_slow([name for name in NAMES if recordings.VARIANT in name]))
def test_a_recording_of_another_method_leads_to_a_model_that_is_exact_in_training(name: str, tmp_path: Path) -> None:
    settings = recorded_models.settings_of(name)
    inputs = run_inputs.registered(settings.game, settings.train_games, settings.seed)
    with open_record(tmp_path, settings, inputs, Caps()) as record:
        outcome = SynthesisRun(record, settings, inputs, Caps(), workers=1).model()
    assert settings.recorded == name
    assert outcome.exact
    assert outcome.synthesis.calls == len(recordings.load(name).records)


@pytest.fixture(scope="module")
def shared_runs() -> dict[str, int]:
    """Returns the longest run of tokens that any program of a recording shares with our source, by recording."""
    programs = [
        (name, block.text)
        for name in NAMES
        for record in recordings.load(name).records
        for block in blocks(record.completion.text)
        if block.language == "python"
    ]
    files = source_files([ROOT / name for name in ("games", "cwm", "search", "arena")], ROOT)
    # Recordings of one game may share an answer.
    distinct = list(dict.fromkeys(text for _, text in programs))
    lengths = {text: run.length for text, run in zip(distinct, longest_shared_runs(distinct, files), strict=True)}
    found: dict[str, int] = {}
    for name, text in programs:
        found[name] = max(found.get(name, 0), lengths[text])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_recorded_programs_share_no_more_with_our_source_than_the_signatures_in_the_prompt(
    name: str, shared_runs: dict[str, int]
) -> None:
    assert 0 < shared_runs[name] <= OF_THE_RULES.get(name.split(recordings.VARIANT)[0], OUR_OWN_SIGNATURE)


@pytest.mark.slow
def test_the_recorded_yokai_model_is_exact_on_the_whole_held_out_set_and_has_a_value_function(tmp_path: Path) -> None:
    outcome, _ = replayed("yokai-9c-2p", tmp_path)
    assert outcome.bundle is not None
    assert outcome.bundle.value_source is not None
    held_out = outcome.evaluations["test"]
    assert held_out["transitions"] >= 10_000
    assert held_out["kinds"]["transition"]["accuracy"] >= 0.999
    assert held_out["kinds"]["inference"]["accuracy"] >= 0.999
    assert held_out["fields"]["final_scores"]["passed"] >= 400
