"""Packs finished runs as recordings that ship and pins their models: `python -m tests.renew_recordings [NAME=]RUN…`.

For maintainers, who have read the answers: programs of pinned recordings are the only ones that run where no sandbox
holds. Each run's folder becomes `cwm/recordings/NAME.jsonl.xz`, named after its settings unless a name is given.
Recordings that are new or changed are replayed, about a minute each; `--only-hashes` leaves that out, and the pins of
their models with it. Without a run, only the pins are brought up to date, e.g. after a recording was deleted.
"""

import json
import sys
from pathlib import Path

from arena.machine import shipped as shipped_models
from arena.pipeline import packing, recorded_models
from arena.runs import shipped
from cwm.llm import recordings
from cwm.model.bundle import ModelBundle

ROOT = Path(__file__).resolve().parents[1]
RECORDINGS = ROOT / "cwm" / "recordings"
HASHES = ROOT / "arena" / "runs" / "shipped_recordings.json"
MODELS = ROOT / "arena" / "machine" / "shipped_models.json"
ONLY_HASHES = "--only-hashes"
UNREAD = "+"
"""In the names of recordings whose answers nobody reads (other methods, hurried, without rules): their programs run in
a sandbox alone."""


def main(words: list[str]) -> None:
    """Packs the runs, and renews both tables of hashes."""
    for word in words:
        if word != ONLY_HASHES:
            name, named, run = word.rpartition("=")
            file = packing.pack(run, None, RECORDINGS, name if named else None)
            sys.stdout.write(f"{file.name}: {file.stat().st_size:,} bytes\n")
    found = {name: shipped.recording_hash(name) for name in recordings.bundled_names()}
    changed = [name for name, pinned in found.items() if shipped.RECORDINGS.get(name) != pinned]
    _write(HASHES, found)
    careful = [name for name in found if UNREAD not in name]
    models = {name: pin for name, pin in shipped_models.BY_RECORDING.items() if name in careful and name not in changed}
    for name in [] if ONLY_HASHES in words else [name for name in careful if name not in models]:
        models[name] = ModelBundle.load(recorded_models.folder_of(name)).hash
        _write(MODELS, models)
        sys.stdout.write(f"{name} leads to the model {models[name][:12]}\n")
    _write(MODELS, models)


def _write(file: Path, data: dict[str, str]) -> None:
    file.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
