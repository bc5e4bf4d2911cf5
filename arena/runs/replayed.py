"""Replays take the settings of the run that was recorded, which the recording's header tells."""

from dataclasses import replace
from typing import Any, Final

from arena.runs.settings import DEFAULT_LLM, RunSettings
from cwm.llm import recordings
from cwm.llm.recordings import VARIANT, Recording, RecordingError
from cwm.storage.journal import RunCorruptError

LEFT_OUT: Final = ("llm", "base_url", "level", "test_transitions", "planner_games", "matches")
"""Settings that no header holds, since no request depends on them: who was asked, at which isolation level of which
machine, and what was measured and played with the finished model."""
REPLAY: Final = "replay"
TWIN: Final = f"{VARIANT}twin"
"""Ends the name of a recording that holds the model's twin, too."""


def header_settings(settings: RunSettings) -> dict[str, Any]:
    """Returns what a recording's header tells of a run's settings."""
    return {name: value for name, value in settings.to_json().items() if name not in LEFT_OUT}


def settings_of(recording: Recording) -> RunSettings | None:
    """Returns the settings with which a recording is replayed; None where it is an old one, which tells of none.

    Raises:
        RecordingError: it tells of something else.
    """
    told = recording.header.settings
    if told is None:
        return None
    try:
        return RunSettings.from_record(told)
    except RunCorruptError as error:
        raise RecordingError(
            f"The header of the recording {recording.name} tells settings that are none of a run ({error}): record it "
            "again."
        ) from error


def ships(settings: RunSettings) -> bool:
    """Whether a recording of what these settings ask for ships with the project, with whatever seed."""
    return settings.registered and 0 in recordings.bundled_seeds(settings.recorded)


def name_for(settings: RunSettings) -> str:
    """Returns the name of the recording with the run's seed; where none has it, of the first, to explain the miss."""
    shipped = settings.seed in recordings.bundled_seeds(settings.recorded)
    return recordings.name_of(settings.recorded, settings.seed if shipped else 0)


def recorded_settings(wished: RunSettings, seed: int | None) -> RunSettings | None:
    """Returns the settings of the recording that a run replays, asked of the run's `llm`.

    Args:
        wished: which model is asked, and how the run differs from the usual one: by this the recording is found.
        seed: None for that of the recording.

    Returns:
        None where a language model is asked, or where the recording does not tell settings of this game.

    Raises:
        RecordingError: the recording is missing, or not as it was written.
    """
    provider, _, place = wished.llm.partition(":")
    if wished.llm == DEFAULT_LLM and ships(wished):
        name = name_for(wished)
    elif provider == REPLAY and place:
        name = place
    else:
        return None
    settings = settings_of(recordings.load(name))
    if settings is None or settings.registered != wished.registered:
        return None
    if settings.registered and settings.game != wished.game:
        return None
    settings = replace(settings, llm=wished.llm, base_url=wished.base_url, level=wished.level)
    return settings if seed in (None, settings.seed) else settings.seeded(seed)


def with_twin(settings: RunSettings) -> RunSettings:
    """Returns the settings with which a run's twin is asked for: a run that replays what ships, of the recording with
    its twin, where that ships, too.
    """
    provider, _, place = settings.llm.partition(":")
    if settings.llm == DEFAULT_LLM and ships(settings):
        place = name_for(settings)
    elif provider != REPLAY:
        return settings
    name = place + TWIN
    return replace(settings, llm=f"{REPLAY}:{name}") if name in recordings.bundled_names() else settings
