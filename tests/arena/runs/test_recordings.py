"""The recordings that ship with the project: each leads to an exact model, with no call and none of our code in it."""

from collections.abc import Callable
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
from cwm.llm import recordings
from cwm.llm.caps import Caps
from cwm.quality.recorded_answers import Likeness, likenesses

GAMES = recordings.bundled_games()
NAMES = recordings.bundled_names()
REPLAYED = (
    *("tic_tac_toe", "connect_four", "kuhn_poker", "leduc_poker", "quadranto", "leduc_poker+closed"),
    *("leduc_poker+state", "tic_tac_toe+conversation", "tic_tac_toe+specification"),
)
"""Of these the tests replay the model, of all others the slow ones: all are checked line by line, and begin with the
request that is made today."""

LONG = ("gin_rummy+state", "gin_rummy+faster", "gin_rummy+hurried", "gin_rummy-s1", "gin_rummy-s2")
"""Their requests take seconds each to make; those of other seeds and other games are made by the same steps."""


def slow(names: list[str], chosen: Callable[[str], bool]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow if chosen(name) else ()) for name in names]


WHOLE = [name for name in NAMES if "untold" not in name and "faster" not in name]
"""Recordings that lead to a model again: without rules not every synthesis came to one, and the prompt for a faster
program tells measured times."""


ALONE = {"value": None, "prior": None}
"""The model without functions beside it."""
ANYWHERE = 26
"""Tokens of a run that any two programs may share, whoever wrote them: the four ways on a grid and a bracket."""


def replayed(name: str, folder: Path, **changes: Any) -> tuple[Outcome, SynthesisRun]:
    settings: RunSettings = replace(recorded_models.settings_of(name), **changes)
    inputs = run_inputs.played(settings)
    with open_record(folder, settings, inputs, Caps()) as record:
        run = SynthesisRun(record, settings, inputs, Caps(), workers=1)
        return run.run(), run


def test_a_recording_ships_for_every_kind_of_game() -> None:
    assert {"tic_tac_toe", "connect_four", "leduc_poker", "bargaining", "backgammon", "yokai-9c-2p"} <= set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_a_recording_names_its_model_and_date(game: str) -> None:
    summary = recordings.load(game).summary()
    assert summary["game"] == game
    assert summary["models"]
    assert all(summary["models"])
    assert summary["first_date"] >= "2026"


@pytest.mark.parametrize("name", slow(NAMES, LONG.__contains__))
def test_a_recording_begins_with_the_request_that_is_made_today(name: str) -> None:
    settings = recorded_models.settings_of(name)
    inputs = run_inputs.played(settings)
    request = recordings.load(name).records[0].request
    assert [message.text for message in request.messages] == [first_prompt(inputs, settings, Caps()).prompt]


def test_the_tests_replay_few_recordings() -> None:
    assert len(REPLAYED) <= 10


@pytest.mark.parametrize("name", slow(WHOLE, lambda name: name not in REPLAYED))
def test_a_recorded_model_is_exact_in_training_and_on_held_out_games(name: str, tmp_path: Path) -> None:
    outcome, run = replayed(name, tmp_path, **ALONE, test_transitions=150, planner_games=1)
    assert outcome.exact
    assert outcome.synthesis.calls <= len(recordings.load(name).records)
    # A model of the closed deck has states of its own, of which observations and rewards alone can be right.
    for split, found in outcome.evaluations.items() if run.settings.deck == "open" else ():
        for kind, tally in found["kinds"].items():
            # Of a model that deals by itself, no path can be followed on the true game.
            assert tally["accuracy"] in (1.0, None), (split, kind, found["failures"])
        # Where deals are drawn the planner's own games on the model cannot be followed to their ends; joint steps pay.
        scores = found["fields"].get("rewards" if run.settings.joint else "final_scores")
        assert run.settings.chance == "drawn" if scores is None else scores["accuracy"] == 1.0


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
def test_the_recorded_yokai_model_is_right_on_the_whole_held_out_set_but_for_forced_moves(tmp_path: Path) -> None:
    outcome, _ = replayed("yokai-9c-2p", tmp_path)
    assert outcome.bundle is not None
    assert outcome.bundle.value_source is not None
    held_out = outcome.evaluations["test"]
    assert held_out["transitions"] >= 10_000
    assert held_out["kinds"]["transition"]["accuracy"] >= 0.99
    assert held_out["kinds"]["inference"]["accuracy"] >= 0.97
    assert {failure["field"] for failure in held_out["failures"]} <= {"legal_actions", "next_state", "history"}
