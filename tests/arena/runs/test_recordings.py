"""The recordings that ship with the project: each leads to an exact model, with no call and none of our code in it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.machine import own_source
from arena.pipeline import recorded_models
from arena.pipeline.synthesis import Outcome, SynthesisRun, first_prompt
from arena.runs import inputs as run_inputs
from arena.runs.folder import open_record
from arena.runs.settings import RunSettings
from arena.runs.standard import standard_settings
from cwm.llm import recordings
from cwm.llm.caps import Caps
from cwm.quality.recorded_answers import Likeness, likenesses

GAMES = recordings.bundled_games()
NAMES = recordings.bundled_names()
LONG = (
    *("backgammon", "gin_rummy", "gin_rummy+closed", "backgammon+conversation"),
    *("yokai-9c-3p", "yokai-9c-4p", "yokai-16c-2p"),
)
"""Their players search for minutes, or their games are long."""
ALIKE = (
    *("yokai-9c-2p", "hand_of_war", "hand_of_war+closed", "quadranto+state"),
    *("army5x5a+conversation", "connect_four+conversation", "mnk+conversation"),
)
"""Of their kind of game, or their method, shorter ones are replayed."""


def long_ones_slow(names: list[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow if name in LONG + ALIKE else ()) for name in names]


ALONE = {"value": None, "prior": None}
"""The model without functions beside it."""
ANYWHERE = 20
"""Tokens of a run that any two programs may share, whoever wrote them."""


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


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_begins_with_the_request_that_is_made_today(name: str) -> None:
    game, seed = re.fullmatch(r"(.+?)(?:-s(\d+))?", name).groups()  # type: ignore[union-attr]
    settings = recorded_models.settings_of(game, int(seed or recorded_models.SEED))
    inputs = run_inputs.registered(settings.game, settings.train_games, settings.seed)
    request = recordings.load(name).records[0].request
    assert [message.text for message in request.messages] == [first_prompt(inputs, settings, Caps()).prompt]


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
def likeness() -> dict[str, Likeness]:
    every = recordings.bundled()
    return {item.recording: item for item in likenesses(every, every, own_source.files())}


@pytest.mark.parametrize("name", NAMES)
def test_recorded_programs_share_no_more_with_our_source_than_answers_that_nobody_copied_share_with_each_other(
    name: str, likeness: dict[str, Likeness]
) -> None:
    found = likeness[name]
    assert 0 < found.outside.length <= max(ANYWHERE, 0 if found.others is None else found.others.length)


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
