"""Settings that a run stores only where they were given."""

from dataclasses import replace

import pytest

from arena.runs.settings import MOST_DEALS, TOURNAMENT_DEALS, RunSettings
from arena.runs.standard import standard_settings
from arena.terminal.options import TournamentDeals
from arena.usage import UsageError
from cwm.functions.kinds import KINDS
from cwm.llm import recordings
from games import registry


def test_temperature_and_effort_are_stored_where_they_were_given_alone() -> None:
    asked = standard_settings("tic_tac_toe", None, None, 0)
    assert not {"temperature", "reasoning_effort"} & asked.to_json().keys()
    given = replace(asked, temperature=0.3, reasoning_effort="low")
    stored = given.to_json()
    assert (stored["temperature"], stored["reasoning_effort"]) == (0.3, "low")
    assert RunSettings.from_record(stored) == given


@pytest.mark.parametrize("game", registry.ids())
def test_live_model_is_asked_for_functions_of_every_game(game: str) -> None:
    asked = standard_settings(game, "openai:some", None, 3)
    hidden = not registry.make(game).info.perfect_information
    assert {name: config.num_candidates for name, config in asked.asked_functions.items()} == (
        {"value": 2, "prior": 2} if hidden else {"value": 2}
    )
    assert {config.seed for config in asked.asked_functions.values()} == {3}
    assert (asked.tournament_budget, asked.tournament_deals) == (20.0, MOST_DEALS)


@pytest.mark.parametrize("game", recordings.bundled_games())
def test_recorded_completions_are_replayed_with_what_was_asked_then(game: str) -> None:
    asked = {record.request.purpose for record in recordings.load(game).records}
    settings = standard_settings(game, None, None, 0)
    assert settings.asked_functions.keys() == asked & {kind.name for kind in KINDS}


def test_seconds_of_a_tournament_are_stored_where_they_were_given_alone() -> None:
    asked = standard_settings("mnk", None, None, 0)
    assert asked.with_budget(None) == asked
    given = asked.with_budget(5.0, 12)
    assert (given.to_json()["tournament_budget"], given.to_json()["tournament_deals"]) == (5.0, 12)
    assert RunSettings.from_record(given.to_json()) == given


def test_help_tells_the_deals_that_are_played() -> None:
    (option,) = TournamentDeals.__metadata__  # type: ignore[attr-defined]
    assert f"default {TOURNAMENT_DEALS}. With --tournament-budget at most so many, default {MOST_DEALS}." in option.help


def test_seconds_for_the_choice_among_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="`tournament_budget` is for the choice among value functions"):
        RunSettings("tic_tac_toe", True).with_budget(5.0)
