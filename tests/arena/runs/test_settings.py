"""Settings that a run stores only where they were given."""

from dataclasses import replace

from arena.runs.settings import RunSettings, standard_settings


def test_temperature_and_effort_are_stored_where_they_were_given_alone() -> None:
    asked = standard_settings("tic_tac_toe", None, None, 0)
    assert not {"temperature", "reasoning_effort"} & asked.to_json().keys()
    given = replace(asked, temperature=0.3, reasoning_effort="low")
    stored = given.to_json()
    assert (stored["temperature"], stored["reasoning_effort"]) == (0.3, "low")
    assert RunSettings.from_record(stored) == given
