"""A proven twin in its model's folder: source, texts, form, and what its proof came to."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from cwm.sandbox.wire.api import ProgramSource
from cwm.storage.files import write_whole
from cwm.storage.keys import content_key
from cwm.twins.form import TwinForm
from cwm.twins.proof import ProofConfig, ProofResult, ProofTask
from cwm.twins.traced import TEXTS, TracedTwin, TwinProblemError, arrays_of
from games.api import Json

FORMAT_VERSION: Final = 2
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
        traced_by: version of JAX that wrote the texts; another one may write others.
    """

    source: str
    traced: TracedTwin
    schema: Json
    model: str
    config: ProofConfig
    proof: Mapping[str, Any]
    replays: tuple[tuple[str, ...], ...]
    traced_by: str

    @classmethod
    def of(cls, task: ProofTask, model: str, config: ProofConfig, proof: ProofResult) -> Self:
        """Returns a twin that was proved just now."""
        told = json.loads(json.dumps(proof.to_json()))
        return cls(task.source, task.traced, task.schema, model, config, told, task.replays, jax_version())

    @property
    def hash(self) -> str:
        """SHA-256 of all that is stored: the twin, the model that it equals, and its proof."""
        return content_key([self.source, self.traced.texts, self._facts()])

    def _facts(self) -> dict[str, Any]:
        return {
            "version": FORMAT_VERSION,
            "model": self.model,
            "traced_by": self.traced_by,
            "form": self.traced.form.to_json(),
            "schema": self.schema,
            "config": self.config.to_json(),
            "proof": dict(self.proof),
            "replays": [list(actions) for actions in self.replays],
        }

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
        facts = {"hash": self.hash, **self._facts()}
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
                raise StoredTwinError(
                    f"{folder}: the twin has format {facts['version']!r:.20}; this version reads {FORMAT_VERSION}; "
                    "make it again with `cwm twin RUN`"
                )
            texts = {name: _read(folder / f"{name}.mlir") for name in TEXTS}
            twin = cls(
                source=_read(folder / SOURCE_FILE),
                traced=TracedTwin(_form(facts["form"]), texts),
                schema=facts["schema"],
                model=_of_type(str, facts["model"]),
                config=_config(facts["config"]),
                proof=_of_type(dict, facts["proof"]),
                replays=tuple(_texts(actions) for actions in _of_type(list, facts["replays"])),
                traced_by=_of_type(str, facts["traced_by"]),
            )
            expected, found = _of_type(str, facts["hash"]), twin.hash
        except (OSError, ValueError, KeyError, TypeError, RecursionError, TwinProblemError) as error:
            if isinstance(error, StoredTwinError):
                raise
            raise StoredTwinError(
                f"{folder / FACTS_FILE} is damaged ({type(error).__name__}: {str(error)[:200]}); restore it, or make "
                "the twin again with `cwm twin RUN`"
            ) from error
        if found != expected:
            raise StoredTwinError(
                f"{folder}: the files hash to {found[:12]}, but {FACTS_FILE} names {expected[:12]}: one of them "
                "was changed; restore it, or make the twin again with `cwm twin RUN`"
            )
        return twin


def has_twin(model_folder: Path) -> bool:
    """Returns whether a model's folder holds a twin."""
    return (model_folder / FOLDER / FACTS_FILE).is_file()


def jax_version() -> str:
    """Returns the version of JAX that is installed, "" if none is."""
    try:
        return metadata.version("jax")
    except metadata.PackageNotFoundError:
        return ""


Kind = TypeVar("Kind")


def _of_type(kind: type[Kind], value: Any) -> Kind:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(_of_type(str, value) for value in _of_type(list, values))


def _form(data: Any) -> TwinForm:
    arrays = arrays_of(_of_type(dict, data)["layout"])
    players, width = (_of_type(int, data[key]) for key in ("num_players", "width"))
    return TwinForm(arrays, _texts(data["actions"]), _texts(data["outcomes"]), players, width)


def _config(data: Any) -> ProofConfig:
    for value in _of_type(dict, data).values():
        _of_type(int, value)
    return ProofConfig.from_record(data)


def _read(path: Path) -> str:
    # newline="": the hash is of the exact text.
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()
