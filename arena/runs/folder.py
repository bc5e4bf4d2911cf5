"""The folder of a synthesis: what lies in it, how it is opened and read."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.runs import inputs as run_inputs
from arena.runs.inputs import Inputs
from arena.runs.settings import RunSettings
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.model.bundle import MODEL_FILE, ModelBundle, ModelBundleError, describe, rules_hash
from cwm.record.record import RunRecord
from cwm.storage import stored_json
from cwm.storage.files import write_whole
from cwm.storage.journal import RunCorruptError

KIND = "synthesis"
INPUTS = "inputs"
MODEL = "model"
CAPS_FILE = "caps.json"
RESULT_FILE = "result.json"
RESULT_KEYS = {"synthesis", "values", "model", "evaluations", "tally"}
DEFAULT_CALLS = 50
"""A synthesis makes at most so many calls unless somebody caps them otherwise."""


def read_result(folder: Path) -> dict[str, Any]:
    """Returns what a run came to, {} if it did not get so far.

    Raises:
        RunCorruptError: the file is damaged.
    """
    remedy = f"`cwm resume {folder}` makes it anew"
    return stored_json.read_if_there(folder / RESULT_FILE, _result, RunCorruptError, remedy) or {}


def _result(data: dict[str, Any]) -> dict[str, Any]:
    missing = RESULT_KEYS - data.keys()
    if missing:
        raise KeyError(min(missing))
    return data


def read_bundle(folder: Path) -> ModelBundle | None:
    """Returns the model of a run, None if it did not get so far.

    Raises:
        RunCorruptError: the model's files are damaged.
    """
    if not (folder / MODEL / MODEL_FILE).exists():
        return None
    try:
        return ModelBundle.load(folder)
    except (OSError, ModelBundleError) as error:
        raise RunCorruptError(f"{error}; `cwm resume {folder}` makes the model anew.") from error


def open_record(folder: Path, settings: RunSettings, inputs: Inputs, caps: Caps) -> RunRecord:
    """Opens a new run's folder, or goes on in one with the same settings.

    Raises:
        RunRecordError: the folder is in use, damaged, or of a run with other settings.
    """
    return opened_record(folder, KIND, settings.to_json(), settings, inputs, caps)


def opened_record(
    folder: Path, kind: str, config: Mapping[str, Any], first: RunSettings, inputs: Inputs, caps: Caps
) -> RunRecord:
    """Opens the folder of a run of syntheses.

    Args:
        folder: of the run.
        kind: of the run.
        config: the run's settings; rules and game are added.
        first: settings of the first synthesis, or of the only one.
        inputs: stored with it.
        caps: stored with it.

    Raises:
        RunRecordError: the folder is in use, damaged, or of a run with other settings.
    """
    record = RunRecord.create_or_resume(
        folder,
        kind,
        {**config, "rules": rules_hash(inputs.rules), "info": describe(inputs.info)},
        seeds={"seed": first.seed},
        sandbox_level=first.level,
    )
    run_inputs.store(folder / INPUTS, inputs)
    write_caps(folder, caps)
    return record


def read_caps(folder: Path) -> Caps:
    """Returns the caps that a run was last given, none if nobody set any."""
    remedy = "delete it and give the caps again"
    return stored_json.read_if_there(folder / CAPS_FILE, Caps.from_json, UsageError, remedy) or Caps()


def capped(folder: Path, caps: Caps, syntheses: int = 1) -> Caps:
    """Returns the caps of a run, with the default one on calls where none is given.

    Args:
        folder: of the run, which need not be there. One that was begun without a cap on calls goes on without, and one
            with a higher cap than the default goes on with that.
        caps: as they were given.
        syntheses: how many share the caps.
    """
    if caps.calls is not None:
        return caps
    stored = read_caps(folder).calls if (folder / CAPS_FILE).exists() else 0
    return caps if stored is None else replace(caps, calls=max(stored, DEFAULT_CALLS * syntheses))


def write_caps(folder: Path, caps: Caps) -> None:
    """Stores the caps for a resume."""
    write_whole(folder / CAPS_FILE, json.dumps(caps.to_json()) + "\n")
