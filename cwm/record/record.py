"""The run record: one folder a run, enough to resume it and to rebuild every table.

`run.json` says what was asked for and where it ran; `journal.sqlite` holds what happened; `programs/` every program
by its hash; `tables/` and `report.html` are made from these and may be deleted. A run is resumed by running the same
deterministic driver again: stored completions and test results are served instead of being made anew.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from cwm.record.calls import RecordedCalls
from cwm.record.environment import git_revision, package_versions
from cwm.storage.differences import differences
from cwm.storage.files import write_whole
from cwm.storage.journal import Journal, RunCorruptError, RunRecordError, storage_error
from cwm.storage.keys import canonical_json, ordered_json, program_hash
from cwm.storage.lock import RunLock
from cwm.storage.settings import known_fields

FORMAT_VERSION = 1
RUN_FILE = "run.json"
JOURNAL_FILE = "journal.sqlite"


class RunConfigError(RunRecordError):
    """The folder holds a run with another configuration."""


class RunMissingError(RunRecordError):
    """The folder holds no run."""


@dataclass(frozen=True)
class RunInfo:
    """What `run.json` holds.

    Attributes:
        kind: what the run does, e.g. `synthesis`, `tournament`.
        config: every setting, as JSON; the same folder takes no other.
        seeds: by name.
        sandbox_level: level at which programs run, None if none do.
        versions: of Python and of the packages, when the run began.
        git_revision: of the checkout, None outside one.
        created: seconds since 1970.
        format_version: of this file.
    """

    kind: str
    config: dict[str, Any]
    seeds: dict[str, int] = field(default_factory=dict)
    sandbox_level: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    git_revision: str | None = None
    created: float = 0.0
    format_version: int = FORMAT_VERSION


@dataclass(frozen=True)
class StoredProgram:
    """One program of a run.

    Attributes:
        hash: SHA-256 of the source, hexadecimal.
        path: file, relative to the run's folder.
        kind: `model` or `value`.
        parent: hash of the program that it refines, None if none.
        metadata: method, call number and the like.
    """

    hash: str
    path: str
    kind: str
    parent: str | None
    metadata: dict[str, Any]


class RunRecord:
    """One run's folder, open for writing by this process alone, or for reading.

    Use `create_or_resume`, `open`, `read` or `memory`; use it as a context manager or call `close`.
    """

    def __init__(self, folder: Path, info: RunInfo, journal: Journal, lock: RunLock | None) -> None:
        self.folder = folder
        self.info = info
        self.journal = journal
        self.calls = RecordedCalls(journal)
        self._lock = lock
        self._sources: dict[str, str] | None = None

    @classmethod
    def memory(cls) -> "RunRecord":
        """Returns a record that keeps nothing on disk, for work that nobody will resume; it has no folder."""
        record = cls(Path(os.devnull), RunInfo("memory", {}), Journal(None), None)
        record._sources = {}
        return record

    @classmethod
    def create_or_resume(
        cls,
        folder: Path,
        kind: str,
        config: Mapping[str, Any],
        *,
        seeds: Mapping[str, int] | None = None,
        sandbox_level: str | None = None,
    ) -> "RunRecord":
        """Opens `folder` for this run, new or begun before.

        Args:
            folder: made if missing.
            kind: what the run does.
            config: every setting that changes a result, as JSON.
            seeds: by name; part of what must agree on resuming.
            sandbox_level: likewise.

        Raises:
            RunConfigError: the folder holds a run with another kind, config, seed or level; names each difference.
            RunLockedError: another process works on it.
            RunCorruptError: a file is damaged.
            RunStorageError: the disk is full or read-only.
        """
        asked = RunInfo(
            kind=kind,
            config=json.loads(canonical_json(dict(config))),
            seeds=dict(seeds or {}),
            sandbox_level=sandbox_level,
            versions=package_versions(),
            git_revision=git_revision(),
            created=time.time(),
        )
        lock = _locked(folder)
        try:
            if (folder / RUN_FILE).exists():
                info = _read_info(folder)
                _refuse_difference(folder, info, asked)
            else:
                info = asked
                _write(folder / RUN_FILE, json.dumps(asdict(info), indent=2, sort_keys=True) + "\n")
            return cls(folder, info, Journal(folder / JOURNAL_FILE), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, folder: Path) -> "RunRecord":
        """Opens a run that exists, to go on with it.

        Raises:
            RunMissingError: `folder` holds no run.
            RunLockedError: another process works on it.
            RunCorruptError: a file is damaged.
            RunStorageError: the disk is full or read-only.
        """
        info = _read_info(folder)
        lock = _locked(folder)
        try:
            return cls(folder, info, Journal(folder / JOURNAL_FILE), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def read(cls, folder: Path) -> "RunRecord":
        """Opens a run for reading, also while another process works on it; writing then fails.

        Raises:
            RunMissingError: `folder` holds no run.
            RunCorruptError: a file is damaged.
        """
        info = _read_info(folder)
        return cls(folder, info, Journal(folder / JOURNAL_FILE, read_only=True), None)

    def add_program(
        self, source: str, *, kind: str = "model", parent: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Stores a program as `programs/HASH.py`; one that is there already is left as it is.

        Returns:
            Its hash.

        Raises:
            RunStorageError: the file cannot be written.
        """
        digest = program_hash(source)
        path = Path("programs") / f"{digest}.py"
        if self._sources is not None:
            self._sources[digest] = source
        elif not (self.folder / path).exists():
            _write(self.folder / path, source)
        self.journal.write(
            "INSERT OR IGNORE INTO programs VALUES (?, ?, ?, ?, ?)",
            (digest, path.as_posix(), kind, parent, canonical_json(dict(metadata or {}))),
        )
        return digest

    def program_source(self, digest: str) -> str:
        """Returns the source of a stored program.

        Raises:
            RunCorruptError: the file is missing or is not what its name says.
        """
        path = self.folder / "programs" / f"{digest}.py"
        if self._sources is not None and digest in self._sources:
            return self._sources[digest]
        try:
            source = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RunCorruptError(f"the program {path} cannot be read ({error}); restore it from a copy.") from error
        if program_hash(source) != digest:
            raise RunCorruptError(f"{path} was changed: its hash is not its name; restore it from a copy.")
        return source

    def programs(self) -> list[StoredProgram]:
        """Returns all stored programs, by hash."""
        rows = self.journal.read("SELECT hash, path, kind, parent, metadata FROM programs ORDER BY hash")
        return [
            StoredProgram(digest, path, kind, parent, json.loads(metadata))
            for digest, path, kind, parent, metadata in rows
        ]

    def put_test_report(self, program: str, suite: str, report: Any) -> None:
        """Stores what the tests with hash `suite` said of `program`; the first report stays."""
        self.journal.write(
            "INSERT OR IGNORE INTO test_results VALUES (?, ?, ?)", (program, suite, ordered_json(report))
        )

    def test_report(self, program: str, suite: str) -> Any | None:
        """Returns the stored report, or None."""
        query = "SELECT report FROM test_results WHERE program = ? AND suite = ?"
        rows = self.journal.read(query, (program, suite))
        return json.loads(rows[0][0]) if rows else None

    def report_in_order(self, program: str, suite: str) -> Any | None:
        """Returns the stored report if its keys have the order in which they were written, else None.

        Prompts show what reports hold, so that a request follows from the order. Earlier versions sorted the keys: what
        they stored is of no use there, and the tests are run again, which costs less than a call.
        """
        query = "SELECT report FROM test_results WHERE program = ? AND suite = ?"
        return _in_order(self.journal.read(query, (program, suite)))

    def evaluation_in_order(self, key: str) -> Any | None:
        """Returns a stored evaluation if its keys have the order in which they were written, see `report_in_order`."""
        return _in_order(self.journal.read("SELECT payload FROM evaluations WHERE key = ?", (key,)))

    def test_reports(self, program: str) -> list[Any]:
        """Returns every stored report of `program`, by suite."""
        rows = self.journal.read("SELECT report FROM test_results WHERE program = ? ORDER BY suite", (program,))
        return [json.loads(report) for (report,) in rows]

    def put_evaluation(self, key: str, payload: Any) -> bool:
        """Stores an evaluation under a content key; returns whether it is new."""
        return self.journal.put("evaluations", key, payload)

    def evaluation(self, key: str) -> Any | None:
        """Returns a stored evaluation, or None."""
        return self.journal.get("evaluations", key)

    def evaluations(self) -> list[tuple[str, Any]]:
        """Returns all (key, evaluation), by key."""
        return self.journal.items("evaluations")

    def put_game(self, key: str, payload: Any) -> bool:
        """Stores a finished game under its content key, see `content_key`; returns whether it is new."""
        return self.journal.put("games", key, payload)

    def game(self, key: str) -> Any | None:
        """Returns a stored game, or None."""
        return self.journal.get("games", key)

    def games(self) -> list[tuple[str, Any]]:
        """Returns all (key, game), by key."""
        return self.journal.items("games")

    def add_event(self, stream: str, number: int, kind: str, payload: Any) -> None:
        """Stores event `number` of a stream. A resumed run tells its events again: the latest telling stays."""
        self.journal.write(
            "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?)", (stream, number, kind, canonical_json(payload))
        )

    def events(self, stream: str | None = None) -> Iterator[tuple[str, int, str, Any]]:
        """Yields (stream, number, kind, payload), in order within each stream."""
        where, values = ("", ()) if stream is None else (" WHERE stream = ?", (stream,))
        query = f"SELECT stream, number, kind, payload FROM events{where} ORDER BY stream, number"
        for name, number, kind, payload in self.journal.read(query, values):
            yield name, number, kind, json.loads(payload)

    @property
    def report_path(self) -> Path:
        """Where the report belongs."""
        return self.folder / "report.html"

    def table_path(self, name: str) -> Path:
        """Returns where the table `name` (with suffix) belongs; makes the folder."""
        _make_folder(self.folder / "tables")
        return self.folder / "tables" / name

    def close(self) -> None:
        """Closes the journal and lets other processes in."""
        self.journal.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> "RunRecord":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _in_order(rows: Sequence[tuple[Any, ...]]) -> Any | None:
    """Returns what the only row holds; None if there is none, or if its keys are sorted on every level.

    What is asked for in order never has sorted keys on its first level.
    """
    if not rows:
        return None
    value = json.loads(rows[0][0])
    return None if canonical_json(value) == rows[0][0] else value


def _refuse_difference(folder: Path, info: RunInfo, asked: RunInfo) -> None:
    def compared(run: RunInfo) -> dict[str, Any]:
        return {"kind": run.kind, "config": run.config, "seeds": run.seeds, "sandbox_level": run.sandbox_level}

    changed = differences(compared(info), compared(asked))
    if changed:
        raise RunConfigError(
            f"{folder} holds a run with other settings ({'; '.join(changed)}); use another folder, or the settings of "
            "the record."
        )


def _read_info(folder: Path) -> RunInfo:
    path = folder / RUN_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RunMissingError(f"{folder} holds no run: {RUN_FILE} is missing; give the folder of a run.") from error
    except UnicodeDecodeError as error:
        raise RunCorruptError(f"{path} is damaged ({error}); restore it from a copy.") from error
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        data = json.loads(text)
        version = int(data["format_version"])
        info = RunInfo(**known_fields(RunInfo, data))
    except (ValueError, KeyError, TypeError) as error:
        raise RunCorruptError(f"{path} is damaged ({error}); restore it from a copy.") from error
    if version > FORMAT_VERSION:
        raise RunCorruptError(
            f"{path} has format version {version}; this program reads up to {FORMAT_VERSION}: use the newer version."
        )
    return info


def _locked(folder: Path) -> RunLock:
    _make_folder(folder)
    return RunLock(folder)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(folder, error) from error


def _write(path: Path, text: str) -> None:
    _make_folder(path.parent)
    try:
        write_whole(path, text.encode("utf-8"))
    except OSError as error:
        raise storage_error(path, error) from error
