"""The journal of a run: one SQLite file in WAL mode, one writer, content keys, insert-or-ignore.

What was paid for is synchronised to the disk before it is used (`synchronous=FULL`); the rest survives the death of
the process at any moment (`NORMAL`).
"""

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cwm.storage.keys import canonical_json, ordered_json

SCHEMA_VERSION = 1
IN_MEMORY = ":memory:"

Synchronous: TypeAlias = Literal["NORMAL", "FULL"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS completions (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, occurrence INTEGER NOT NULL, model TEXT NOT NULL,
    purpose TEXT NOT NULL, request TEXT NOT NULL, status TEXT NOT NULL, completion TEXT, message TEXT NOT NULL,
    lost INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    UNIQUE (key, occurrence));
CREATE TABLE IF NOT EXISTS programs (
    hash TEXT PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, parent TEXT, metadata TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS test_results (
    program TEXT NOT NULL, suite TEXT NOT NULL, report TEXT NOT NULL, PRIMARY KEY (program, suite)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS evaluations (key TEXT PRIMARY KEY, payload TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    evaluation TEXT NOT NULL, key TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (evaluation, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS games (key TEXT PRIMARY KEY, payload TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    stream TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL,
    PRIMARY KEY (stream, number)) WITHOUT ROWID;
"""


class RunRecordError(Exception):
    """A run's folder cannot be used; the message says what was found and what to do."""


class RunStorageError(RunRecordError):
    """The disk is full, read-only, or fails."""


class RunCorruptError(RunRecordError):
    """A file of the run is damaged."""


class RunLockedError(RunRecordError):
    """Another process works on the run."""


def storage_error(path: Path, error: OSError) -> RunRecordError:
    """Returns the named error for a failed file operation under `path`."""
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
        return RunStorageError(f"cannot use {path}: {reason}; a run is a folder with files in it: give another folder.")
    return RunStorageError(
        f"cannot use {path}: {reason}; free space or make the folder writable, then run the same command again: "
        "everything recorded so far is kept."
    )


class Journal:
    """Tables of one run, keyed by content. Thread-safe; one process writes.

    Args:
        path: the SQLite file; made if missing unless `read_only`. None: in memory, until `close`.
        read_only: open for reports, also while another process writes.

    Raises:
        RunCorruptError: the file is no journal or is damaged.
        RunStorageError: it cannot be opened or written.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = Path(IN_MEMORY) if path is None else path
        self.on_disk = path is not None
        self._lock = threading.RLock()
        with self._named_errors():
            mode = "ro" if read_only else "rwc"
            uri = f"file:{IN_MEMORY}" if path is None else f"{path.absolute().as_uri()}?mode={mode}"
            self._connection = sqlite3.connect(
                uri, uri=True, check_same_thread=False, isolation_level=None, timeout=30.0
            )
        try:
            self._check(read_only)
        except RunRecordError:
            self._connection.close()
            raise

    def _check(self, read_only: bool) -> None:
        with self._named_errors():
            problems = [row[0] for row in self._connection.execute("PRAGMA quick_check(1)")]
            if problems != ["ok"]:
                raise RunCorruptError(f"{self.path} is damaged ({problems[0]}); restore it from a copy.")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise RunCorruptError(
                    f"{self.path} has journal version {version}; this program reads up to {SCHEMA_VERSION}: "
                    "use the newer version of it."
                )
            if read_only:
                return
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_SCHEMA)
            self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            name = getattr(error, "sqlite_errorname", "") or ""
            if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
                raise RunCorruptError(f"{self.path} is damaged ({error}); restore it from a copy.") from error
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise RunLockedError(f"{self.path} is in use by another process; wait for it to end.") from error
            raise RunStorageError(
                f"cannot use {self.path}: {error}; free space or make the folder writable, then run the same command "
                "again: everything recorded so far is kept."
            ) from error

    def write(
        self, statement: str, values: Sequence[Any] | Mapping[str, Any], synchronous: Synchronous = "NORMAL"
    ) -> bool:
        """Runs one statement in a transaction of its own.

        Args:
            statement: SQL.
            values: its parameters.
            synchronous: `FULL` returns only when the row is on the disk.

        Returns:
            Whether a row changed.

        Raises:
            RunStorageError: nothing was written; what was committed before stays.
        """
        with self._lock, self._named_errors():
            self._connection.execute(f"PRAGMA synchronous={synchronous}")
            return self._connection.execute(statement, values).rowcount > 0

    def read(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows of a query."""
        with self._lock, self._named_errors():
            return self._connection.execute(statement, values).fetchall()

    def put(self, table: str, key: str, payload: Any) -> bool:
        """Stores JSON under a content key in `evaluations` or `games`; a key that exists keeps its first payload.

        Returns:
            Whether the row is new.
        """
        return self.write(f"INSERT OR IGNORE INTO {_keyed(table)} VALUES (?, ?)", (key, ordered_json(payload)))

    def get(self, table: str, key: str) -> Any | None:
        """Returns the payload under `key`, or None."""
        rows = self.read(f"SELECT payload FROM {_keyed(table)} WHERE key = ?", (key,))
        return json.loads(rows[0][0]) if rows else None

    def items(self, table: str) -> list[tuple[str, Any]]:
        """Returns all (key, payload) of `evaluations` or `games`, by key: the order never depends on timing."""
        rows = self.read(f"SELECT key, payload FROM {_keyed(table)} ORDER BY key")
        return [(key, json.loads(payload)) for key, payload in rows]

    def put_batch(self, evaluation: str, key: str, payload: Any) -> None:
        """Stores one part of an evaluation that is under way; a key that exists keeps its first payload."""
        row = (evaluation, key, zlib.compress(canonical_json(payload).encode("ascii")))
        self.write("INSERT OR IGNORE INTO batches VALUES (?, ?, ?)", row)

    def batch(self, evaluation: str, key: str) -> Any | None:
        """Returns a stored part of an evaluation, or None."""
        query = "SELECT payload FROM batches WHERE evaluation = ? AND key = ?"
        rows = self.read(query, (evaluation, key))
        if not rows:
            return None
        try:
            return json.loads(zlib.decompress(rows[0][0]))
        except (TypeError, ValueError, zlib.error) as error:
            raise RunCorruptError(f"{self.path} is damaged ({error}); restore it from a copy.") from error

    def drop_batches(self, evaluation: str) -> None:
        """Drops all parts of an evaluation."""
        self.write("DELETE FROM batches WHERE evaluation = ?", (evaluation,))

    def close(self) -> None:
        """Closes the file; nothing may be called afterwards."""
        with self._lock, self._named_errors():
            self._connection.close()


def _keyed(table: str) -> str:
    if table not in ("evaluations", "games"):
        raise ValueError(f"the keyed tables are evaluations and games, not {table!r}")
    return table
