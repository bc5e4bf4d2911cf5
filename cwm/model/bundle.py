"""A synthesised model as files: its program, the functions beside it, and what is known of how it came about."""

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, get_args

from cwm.functions.types import WITH_PRIOR
from cwm.sandbox.wire.api import ProgramSource
from cwm.sandbox.wire.plain_json import is_finite
from cwm.storage.files import write_whole
from cwm.trajectories.recorded import Deck, Infers
from games.api import GameInfo, Json, Utility
from games.posg.api import PosgInfo

FORMAT_VERSION = 1
MODEL_FILE = "model.json"
PROGRAM_FILE = "program.py"
VALUE_FILE = "value_function.py"
PRIOR_FILE = "policy_prior.py"
VECTORS_FILE = "observation_vectors.py"
SCHEMA_FILE = "observation_schema.json"
RUN_SUBFOLDER = "model"
INFERENCE = "resample"
"""The kind of functions that holds what a program with a joint step infers."""
RUN_RULES = Path("inputs") / "rules.md"
"""Where a run keeps the rules text that its model was written from."""


class ModelBundleError(ValueError):
    """A folder holds no model, or not the one that its hash names."""


@dataclass(frozen=True)
class ModelBundle:
    """A model and its origin.

    Attributes:
        source: the program.
        value_source: the value function, None if there is none.
        initial_state: bound to INITIAL_STATE.
        info: as `ProgramSource` has it.
        rules_hash: SHA-256 of the rules text that it was written from.
        metadata: anything JSON about its origin: language model, date, accuracy, isolation level; not part of the hash.
        prior_source: the policy prior, None if there is none.
        vectors_source: functions between observations and vectors, see `cwm.model.codec`; None if there are none.
        schema: the schema of observations that is used instead, as `cwm.observations.schema` writes it, or None.
        further: sources of the kinds of functions that have no field here, by their names.
    """

    source: str
    value_source: str | None
    initial_state: Json
    info: dict[str, Any]
    rules_hash: str
    metadata: Mapping[str, Json] = field(default_factory=dict)
    prior_source: str | None = None
    vectors_source: str | None = None
    schema: Json = None
    further: Mapping[str, str] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 of all that decides how the model behaves."""
        content = [self.source, self.value_source, self.initial_state, _plain(self.info), self.rules_hash]
        if self.prior_source is not None:
            content.append(self.prior_source)
        if self.vectors_source is not None or self.schema is not None:
            content.append({"vectors": [self.vectors_source, self.schema]})
        if self.further:
            content.append({"further": dict(self.further)})
        return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode("ascii")).hexdigest()

    @property
    def game_info(self) -> GameInfo:
        """The fixed properties of the game."""
        values: dict[str, Any] = {
            key: tuple(item) if isinstance(item, list) else item for key, item in self.info.items() if key != "joint"
        }
        return GameInfo(**values)

    @property
    def joint(self) -> bool:
        """Whether the program has a joint step, and players who act at the same time; else they take turns."""
        return "joint" in self.info

    @property
    def joint_info(self) -> PosgInfo:
        """What is fixed about a game of simultaneous moves, of a program with a joint step."""
        told = self.info["joint"]
        info: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in told.items()}
        return PosgInfo(**{**info, "actions": tuple(map(tuple, told["actions"]))})

    @property
    def beside(self) -> tuple[str, ...]:
        """The kinds of functions that stand beside the program, by their names."""
        own = {"value": self.value_source, "prior": self.prior_source, "vectors": self.vectors_source}
        return (*(name for name, source in own.items() if source is not None), *self.further)

    def fits(self, source: str) -> bool:
        """Tells whether what stands beside the model fits another program of the game, too.

        Functions beside programs in turns are written for the states of the games; those beside a joint step for what
        the program alone has: its states, the labels of its draws, its names.
        """
        return not self.joint or source == self.source

    @property
    def deck(self) -> Deck:
        """Whether hidden states were shown when it was written: a model of the closed deck has states of its own, and
        its `resample_history` is told whether the game is over."""
        return "closed" if self.metadata.get("deck") == "closed" else "open"

    @property
    def infers(self) -> Infers:
        """What it samples from what a player saw, where something is hidden."""
        return "state" if self.metadata.get("inference") == "state" else "history"

    @property
    def plays_with(self) -> dict[str, Any]:
        """The planner settings that it was found to play best with, {} if nobody has looked."""
        found = self.metadata.get("plays_with")
        if isinstance(found, Mapping):
            return dict(found)
        return {} if self.prior_source is None or self.joint else dict(WITH_PRIOR)

    def with_function(self, kind: str, source: str | None, **fields: Any) -> Self:
        """Returns the model with a function beside it, or without one of its kind.

        Args:
            kind: its name, see `cwm.functions.kinds`.
            source: the code, None for none.
            fields: further fields that are set.
        """
        if (field_name := f"{kind}_source") in self.__dataclass_fields__:
            return replace(self, **{field_name: source, **fields})
        others = {name: text for name, text in self.further.items() if name != kind}
        return replace(self, further=others if source is None else {**others, kind: source}, **fields)

    def program(self) -> ProgramSource:
        """Returns what a worker is given."""
        given = self.source, self.initial_state, _plain(self.info), self.value_source, self.prior_source
        return ProgramSource(*given, self.further.get(INFERENCE) if self.joint else None)

    def save(self, folder: Path) -> None:
        """Writes the bundle into a folder, which is made if it is missing.

        Raises:
            OSError: the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        record = {
            "version": FORMAT_VERSION,
            "hash": self.hash,
            "rules_hash": self.rules_hash,
            "info": _plain(self.info),
            "initial_state": self.initial_state,
            "value_function": self.value_source is not None,
            "metadata": dict(self.metadata),
        }
        if self.prior_source is not None:
            record["policy_prior"] = True
        if self.vectors_source is not None or self.schema is not None:
            record["vectors"] = [name for name, given in self._vectors() if given is not None]
        if self.further:
            record["further"] = sorted(self.further)
        further = [(_file_of(name), source) for name, source in self.further.items()]
        beside = ((VALUE_FILE, self.value_source), (PRIOR_FILE, self.prior_source), *self._vectors(), *further)
        write_whole(folder / PROGRAM_FILE, self.source.encode("utf-8"))
        for name, source in beside:
            if source is None:
                (folder / name).unlink(missing_ok=True)
            else:
                write_whole(folder / name, source.encode("utf-8"))
        # Last, because a folder without it holds no model.
        text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_whole(folder / MODEL_FILE, text.encode("utf-8"))

    def _vectors(self) -> tuple[tuple[str, str | None], ...]:
        """Returns the files that say how observations become vectors, with their texts."""
        schema = None if self.schema is None else json.dumps(self.schema, indent=1, sort_keys=True) + "\n"
        return ((VECTORS_FILE, self.vectors_source), (SCHEMA_FILE, schema))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a bundle.

        Args:
            path: its folder, its `model.json`, the folder of a run that holds it in `model/`, or a file of
                `cwm export`, which is parsed and never run.

        Raises:
            ModelBundleError: there is no model, or its files do not belong together.
            OSError: a file cannot be read.
        """
        if path.suffix == ".py":
            return cls(**_exported(path))._checked(path)
        folder = _folder(path)
        try:
            record = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
            version = record["version"]
            if version != FORMAT_VERSION:
                raise ModelBundleError(f"{folder}: the model has format {version}; this version reads {FORMAT_VERSION}")
            value_source = _read(folder / VALUE_FILE) if record["value_function"] else None
            vectors = record.get("vectors", [])
            bundle = cls(
                source=_read(folder / PROGRAM_FILE),
                value_source=value_source,
                initial_state=record["initial_state"],
                info=record["info"],
                rules_hash=record["rules_hash"],
                metadata=record["metadata"],
                prior_source=_read(folder / PRIOR_FILE) if record.get("policy_prior", False) else None,
                vectors_source=_read(folder / VECTORS_FILE) if VECTORS_FILE in vectors else None,
                schema=json.loads(_read(folder / SCHEMA_FILE)) if SCHEMA_FILE in vectors else None,
                further={name: _read(folder / _file_of(name)) for name in record.get("further", [])},
            )
            expected = record["hash"]
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
            raise ModelBundleError(f"{folder / MODEL_FILE} is damaged: {type(error).__name__}: {error}") from error
        if bundle.hash != expected:
            raise ModelBundleError(
                f"{folder}: the files hash to {bundle.hash[:12]}, but {MODEL_FILE} names {expected[:12]}: "
                "one of them was changed; restore it, or synthesise the model again"
            )
        return bundle._checked(folder / MODEL_FILE)

    def _checked(self, place: Path) -> Self:
        """Returns the bundle if what it says of a joint step can be read: a hash vouches for no form.

        Raises:
            ModelBundleError: it cannot.
        """
        try:
            problem = _joint_problem(self.joint_info) if self.joint else ""
        except (KeyError, TypeError, AttributeError) as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            message = f"{place}: its `joint`, what is fixed about the game, is damaged ({problem[:200]})"
            raise ModelBundleError(f"{message}: restore it, or synthesise the model again")
        return self


def kept_rules(path: Path, bundle: ModelBundle) -> str | None:
    """Returns the rules text that the run of a model keeps, None if nobody keeps the text that it was written from.

    Args:
        path: as for `ModelBundle.load`.
        bundle: the model there.
    """
    if path.suffix == ".py":
        return None
    model = _folder(path)
    for run in (path, model, model.parent):
        try:
            text = (run / RUN_RULES).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if rules_hash(text) == bundle.rules_hash:
            return text
    return None


def rules_hash(rules: str) -> str:
    """Returns the SHA-256 of a rules text."""
    return hashlib.sha256(rules.encode("utf-8")).hexdigest()


def describe(info: GameInfo, joint: PosgInfo | None = None) -> dict[str, Any]:
    """Returns what is fixed about a game as the dict of a bundle, see `ProgramSource.info`."""
    beside = {} if joint is None else {"joint": json.loads(json.dumps(asdict(joint)))}
    return _plain(asdict(info)) | beside


def _joint_problem(info: PosgInfo) -> str:
    """Returns what is wrong with the facts about a game of simultaneous moves, "" if nothing is."""
    names, limit = info.agent_names, info.step_limit
    if not isinstance(names, tuple) or not names or not all(isinstance(name, str) for name in names):
        return f"agent_names are {names!r}, expected a list of names"
    if len(info.actions) != len(names) or not all(info.actions):
        return f"expected a list of actions for each of {len(names)} agents, got {info.actions!r}"
    if not all(isinstance(action, str) for actions in info.actions for action in actions):
        return f"actions are {info.actions!r}, expected text"
    for name in ("min_step", "max_step", "min_utility", "max_utility", "discount"):
        if not is_finite(getattr(info, name)):
            return f"{name} is {getattr(info, name)!r}, expected a number"
    if limit is not None and (type(limit) is not int or limit < 1):
        return f"step_limit is {limit!r}, expected a whole number from 1, or null"
    known = get_args(Utility)
    return "" if info.utility in known else f"utility is {info.utility!r}, expected {' or '.join(known)}"


def _plain(info: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in info.items()}


def _file_of(kind: str) -> str:
    """Returns the name of the file of a kind of functions that has no field of its own."""
    if not kind.isidentifier():
        raise ModelBundleError(f"{MODEL_FILE} names a kind of functions {kind!r}; expected a word")
    return f"function_{kind}.py"


def _folder(path: Path) -> Path:
    candidates = [path.parent] if path.name == MODEL_FILE else [path, path / RUN_SUBFOLDER]
    for folder in candidates:
        if (folder / MODEL_FILE).is_file():
            return folder
    raise ModelBundleError(f"{path} holds no model: no {MODEL_FILE} there, nor in {RUN_SUBFOLDER}/")


def _exported(path: Path) -> dict[str, Any]:
    """Returns the fields of the model in a file of `cwm export`."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        (text,) = (
            node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and [target.id for target in node.targets if isinstance(target, ast.Name)] == ["MODEL"]
            and isinstance(node.value, ast.Constant)
        )
        content: dict[str, Any] = json.loads(str(text))
        known = {item.name for item in fields(ModelBundle)}
        if not {"source", "initial_state", "info", "rules_hash", "value_source"} <= content.keys() <= known:
            raise ValueError(f"its fields are {', '.join(sorted(content))}")
    except FileNotFoundError as error:
        raise ModelBundleError(f"there is no file {path}") from error
    except (ValueError, SyntaxError, AttributeError, RecursionError, MemoryError) as error:
        raise ModelBundleError(
            f"{path} holds no model that was written by `cwm export` ({type(error).__name__}: {error})"
        ) from error
    return content


def _read(path: Path) -> str:
    # newline="": the hash is of the exact text.
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()
