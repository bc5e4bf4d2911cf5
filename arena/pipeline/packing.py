"""Recordings in the form in which they ship: compressed, with the settings of the run that made them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.pipeline import chosen
from arena.runs import stored_calls
from arena.runs.folder import KIND, read_bundle
from arena.runs.replayed import header_settings
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.llm import recordings
from cwm.llm.recordings import PACKED, Header, Record, Recording
from cwm.llm.requests import Occurrences, request_key
from cwm.record.record import RUN_FILE, RunRecord
from cwm.storage.files import write_whole


def of_run(folder: Path) -> Recording:
    """Returns the recording of a run: its answered calls, named after its game, method and seed.

    Raises:
        UsageError: the folder holds no calls, or is of another kind of run.
        RunRecordError: it is damaged.
    """
    settings = settings_of_run(folder)
    records = []
    occurrences = Occurrences()
    for call in stored_calls.calls_of(str(folder)):
        if call.completion is not None:
            key = request_key(call.request)
            date = str(call.completion.metadata.get("date", ""))
            records.append(Record(key, occurrences.number(call.request, key), call.request, call.completion, date))
    header = Header(settings.game, f"seed {settings.seed}", header_settings(settings), _chosen(folder))
    return Recording(recordings.name_of(settings.recorded, settings.seed), header, tuple(records))


def of_file(file: str, run: Path | None) -> Recording:
    """Returns a recording with the settings of its run.

    Args:
        file: plain or compressed, or the name of a recording that ships.
        run: the run's folder; None if the recording's header tells its settings.

    Raises:
        UsageError: nobody says what the settings were.
        RecordingError: it is not as it was written.
    """
    recording = recordings.load(file)
    if run is not None:
        settings = header_settings(settings_of_run(run))
        return replace(recording, header=replace(recording.header, settings=settings, chosen=_chosen(run)))
    if recording.header.settings is None:
        raise UsageError(
            f"The recording {file} is an old one, which tells nothing of the run that made it: name that run's folder "
            "by the option `run`."
        )
    return recording


def _chosen(run: Path) -> dict[str, Any] | None:
    bundle = read_bundle(run)
    return None if bundle is None else chosen.of_model(bundle)


def pack(place: str, run: Path | None, folder: Path, name: str | None = None) -> Path:
    """Writes a recording in the form in which they ship.

    Args:
        place: folder of a run, or a recording.
        run: the run that made the recording, where it does not say so itself.
        folder: where the file is put.
        name: of the packed recording; None for the one that follows from its settings.

    Returns:
        the file.

    Raises:
        UsageError, RecordingError, RunRecordError: see `of_run` and `of_file`.
    """
    recording = of_run(Path(place)) if (Path(place) / RUN_FILE).exists() else of_file(place, run)
    file = folder / ((name or recording.name) + PACKED)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(file, recording.packed())
    return file


def settings_of_run(folder: Path) -> RunSettings:
    """Returns the settings of a run of one synthesis.

    Raises:
        UsageError: it is of another kind.
        RunRecordError: it is damaged, or there is none.
    """
    with RunRecord.read(folder) as record:
        if record.info.kind != KIND:
            raise UsageError(f"{folder} holds a run of kind {record.info.kind!r}; give the folder of one synthesis.")
        return RunSettings.from_record(record.info.config)
