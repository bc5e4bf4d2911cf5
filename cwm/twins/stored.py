"""A proven twin in its model's folder: source, texts, form, and what its proof came to."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from cwm.sandbox.wire.api import ProgramSource
from cwm.storage.files import write_whole
from cwm.storage.keys import content_key
from cwm.twins.form import TwinForm
from cwm.twins.proof import ProofConfig, ProofResult, ProofTask
from cwm.twins.traced import TEXTS, TracedTwin
from games.api import Json

FORMAT_VERSION: Final = 1
FOLDER: Final = "twin"
SOURCE_FILE: Final = "twin.py"
FACTS_FILE: Final = "twin.json"


class StoredTwinError(ValueError):
    """A folder holds no twin, or not the one that its hash names."""


@dataclass(frozen=True)
class StoredTwin:
    """A twin and its proof.

    Attributes:
        source: the twin's.
        traced: form and texts.
        schema: of the vectors of observations.
        model: hash of the model that it equals.
        config: of the proof.
        proof: what it came to.
        replays: actions of the games that the proof began with.
    """

    source: str
    traced: TracedTwin
    schema: Json
    model: str
    config: ProofConfig
    proof: Mapping[str, Any]
    replays: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, task: ProofTask, model: str, config: ProofConfig, proof: ProofResult) -> Self:
        """Returns a twin that was proved just now."""
        return cls(task.source, task.traced, task.schema, model, config, proof.to_json(), task.replays)

    @property
    def hash(self) -> str:
        """SHA-256 of all that decides how the twin behaves, and of the model that it equals."""
        content = [self.source, self.traced.texts, self.traced.form.to_json(), self.schema, self.model]
        return content_key(content)

    def task(self, program: ProgramSource) -> ProofTask:
        """Returns what is to be proved again.

        Args:
            program: of the model that it equals.
        """
        return ProofTask(program, self.source, self.traced, self.schema, self.replays)

    def save(self, model_folder: Path) -> None:
        """Writes the twin into its model's folder.

        Raises:
            OSError: the folder cannot be written.
        """
        folder = model_folder / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / SOURCE_FILE, self.source.encode("utf-8"))
        for name in TEXTS:
            write_whole(folder / f"{name}.mlir", self.traced.texts[name].encode("utf-8"))
        facts = {
            "version": FORMAT_VERSION,
            "hash": self.hash,
            "model": self.model,
            "form": self.traced.form.to_json(),
            "schema": self.schema,
            "config": self.config.to_json(),
            "proof": dict(self.proof),
            "replays": [list(actions) for actions in self.replays],
        }
        # Last, because a folder without it holds no twin.
        write_whole(folder / FACTS_FILE, (json.dumps(facts, indent=1, allow_nan=False) + "\n").encode("utf-8"))

    @classmethod
    def load(cls, model_folder: Path) -> Self:
        """Reads the twin in a model's folder.

        Raises:
            StoredTwinError: there is none, or its files do not belong together.
        """
        folder = model_folder / FOLDER
        if not (folder / FACTS_FILE).is_file():
            raise StoredTwinError(f"{model_folder} holds no twin: make one with `cwm twin RUN`")
        try:
            facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
            if facts["version"] != FORMAT_VERSION:
                raise StoredTwinError(f"{folder}: the twin has format {facts['version']}; this version reads 1")
            texts = {name: _read(folder / f"{name}.mlir") for name in TEXTS}
            twin = cls(
                source=_read(folder / SOURCE_FILE),
                traced=TracedTwin(TwinForm.from_json(facts["form"]), texts),
                schema=facts["schema"],
                model=facts["model"],
                config=ProofConfig.from_record(facts["config"]),
                proof=facts["proof"],
                replays=tuple(tuple(actions) for actions in facts["replays"]),
            )
            expected = facts["hash"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, StoredTwinError):
                raise
            raise StoredTwinError(f"{folder / FACTS_FILE} is damaged: {type(error).__name__}: {error}") from error
        if twin.hash != expected:
            raise StoredTwinError(
                f"{folder}: the files hash to {twin.hash[:12]}, but {FACTS_FILE} names {expected[:12]}: one of them "
                "was changed; restore it, or make the twin again with `cwm twin RUN`"
            )
        return twin


def has_twin(model_folder: Path) -> bool:
    """Returns whether a model's folder holds a twin."""
    return (model_folder / FOLDER / FACTS_FILE).is_file()


def _read(path: Path) -> str:
    # newline="": the hash is of the exact text.
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()
