"""The games of a tournament on disk: an SQLite file that survives kills and that a second process may not open."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from arena.matches.match import GameRecord
from cwm.storage.differences import differences
from cwm.storage.files import write_whole
from cwm.storage.keys import canonical_json
from cwm.storage.lock import FileLock, LockHeldError

FORMAT_VERSION = 1
FILE_NAME = "games.sqlite"
STANDINGS_FILE = "standings.json"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS games (key TEXT PRIMARY KEY, record TEXT NOT NULL, seconds TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS faults (key TEXT NOT NULL, attempt INTEGER NOT NULL, message TEXT NOT NULL,
    PRIMARY KEY (key, attempt));
"""


class StoreError(Exception):
    """The file of games cannot be used; the message says why and what to do."""


class StoreLockedError(StoreError):
    """Another process has the file open."""


class ConfigMismatchError(StoreError):
    """The folder holds the games of another configuration; the message lists what differs."""


class Games(Protocol):
    """Keeps the games of one tournament by key."""

    def add(self, key: str, record: GameRecord) -> None: ...

    def add_fault(self, key: str, message: str) -> int: ...

    def games(self) -> dict[str, GameRecord]: ...

    def faults(self) -> dict[str, list[str]]: ...


class MemoryStore:
    """Keeps games in memory, for tournaments that nobody will resume."""

    def __init__(self) -> None:
        self._games: dict[str, GameRecord] = {}
        self._faults: dict[str, list[str]] = {}

    def add(self, key: str, record: GameRecord) -> None:
        self._games.setdefault(key, record)

    def add_fault(self, key: str, message: str) -> int:
        self._faults.setdefault(key, []).append(message)
        return len(self._faults[key])

    def games(self) -> dict[str, GameRecord]:
        return dict(self._games)

    def faults(self) -> dict[str, list[str]]:
        return {key: list(messages) for key, messages in self._faults.items()}


class GameStore:
    """Finished games by key, in one folder, for one configuration. A context manager.

    A game is written in one transaction as soon as it is finished; a key that is there already is left as it is.
    """

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        """Opens or creates the file of games in `folder`.

        Raises:
            StoreLockedError: another process has it open.
            ConfigMismatchError: it was made with another configuration.
            StoreError: the file or the folder cannot be read or written.
        """
        self.path = folder / FILE_NAME
        self._lock = _lock(folder)
        try:
            self._database = self._open(config)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> "GameStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file and lets other processes in; may be called more than once."""
        self._database.close()
        self._lock.release()

    def add(self, key: str, record: GameRecord) -> None:
        """Stores a finished game; does nothing if the key is known.

        Raises:
            StoreError: the disk is full or read-only; games that were stored before are safe.
        """
        data = record.to_json()
        seconds = data.pop("seconds")
        row = (key, canonical_json(data), canonical_json(seconds))
        with self._named_errors():
            self._database.execute("INSERT OR IGNORE INTO games VALUES (?, ?, ?)", row)

    def add_fault(self, key: str, message: str) -> int:
        """Notes that something of ours broke during a game, and returns how often that has happened to it."""
        with self._named_errors():
            count = int(self._database.execute("SELECT COUNT(*) FROM faults WHERE key = ?", (key,)).fetchone()[0])
            self._database.execute("INSERT INTO faults VALUES (?, ?, ?)", (key, count + 1, message))
        return count + 1

    def games(self) -> dict[str, GameRecord]:
        """Returns every stored game by key."""
        with self._named_errors():
            return _games(self._database)

    def faults(self) -> dict[str, list[str]]:
        """Returns the messages of what broke, by key, oldest first."""
        with self._named_errors():
            return _faults(self._database)

    def _open(self, config: dict[str, Any]) -> sqlite3.Connection:
        with self._named_errors():
            database = sqlite3.connect(self.path, isolation_level=None)
        try:
            self._prepare(database, config)
        except BaseException:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection, config: dict[str, Any]) -> None:
        with self._named_errors():
            _check(self.path, database)
            # NORMAL loses no committed game when the process is killed, only when the machine loses power.
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(_SCHEMA)
            database.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (canonical_json(FORMAT_VERSION),))
            database.execute("INSERT OR IGNORE INTO meta VALUES ('config', ?)", (canonical_json(config),))
            stored = {name: json.loads(value) for name, value in database.execute("SELECT name, value FROM meta")}
        _check_format(self.path, stored["format"])
        _check_config(self.path, stored["config"], config)

    def _named_errors(self) -> AbstractContextManager[None]:
        return _named_errors(self.path)


@dataclass(frozen=True)
class StoredGames:
    """What a file of games holds.

    Attributes:
        config: as it was given when the file was made.
        games: by key.
        faults: messages of what broke, by key, oldest first.
    """

    config: dict[str, Any]
    games: dict[str, GameRecord]
    faults: dict[str, list[str]]


def read(folder: Path, config: dict[str, Any] | None = None) -> StoredGames:
    """Reads a folder's games, also while another process adds to them; changes nothing.

    Args:
        folder: of the games.
        config: what the games are expected to be of; None for whatever is there.

    Raises:
        ConfigMismatchError: they are of another configuration.
        StoreError: there are none, or the file is damaged.
    """
    path = folder / FILE_NAME
    if not path.exists():
        raise StoreError(f"{folder} holds no games: {FILE_NAME} is missing; give the folder of a tournament.")
    with _named_errors(path):
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as database:
            _check(path, database)
            if config is not None and not _is_begun(database):
                return StoredGames(config, {}, {})
            stored = {name: json.loads(value) for name, value in database.execute("SELECT name, value FROM meta")}
            if stored.keys() < {"format", "config"}:
                raise StoreError(f"{path} is damaged (it names no configuration): restore it from a copy.")
            _check_format(path, stored["format"])
            if config is not None:
                _check_config(path, stored["config"], config)
            return StoredGames(stored["config"], _games(database), _faults(database))


def write_standings(folder: Path, standings: dict[str, Any]) -> None:
    """Stores the standings of a tournament beside its games, in place of earlier ones.

    Raises:
        StoreError: the file cannot be written.
    """
    path = folder / STANDINGS_FILE
    try:
        write_whole(path, json.dumps(standings, indent=1, sort_keys=True, allow_nan=False) + "\n")
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}): make room for it; every game is kept."
        ) from error


def read_standings(folder: Path) -> Any | None:
    """Returns the stored standings, None if there are none.

    Raises:
        StoreError: the file is damaged.
    """
    path = folder / STANDINGS_FILE
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} is damaged ({error}): delete it and run the tournament again; no game is lost."
        ) from error


def _check(path: Path, database: sqlite3.Connection) -> None:
    problem = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise StoreError(f"{path} is damaged ({problem}): restore it from a copy; nothing in it was changed.")


def _is_begun(database: sqlite3.Connection) -> bool:
    """Whether the file has its tables and its configuration: a kill may have come before."""
    tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'meta'").fetchall()
    return bool(tables) and bool(database.execute("SELECT name FROM meta WHERE name = 'config'").fetchall())


def _check_format(path: Path, version: int) -> None:
    if version != FORMAT_VERSION:
        raise StoreError(f"{path} has format {version}, this version reads {FORMAT_VERSION}: use another folder.")


def _check_config(path: Path, stored: Any, given: dict[str, Any]) -> None:
    changed = differences(stored, json.loads(canonical_json(given)))
    if changed:
        raise ConfigMismatchError(
            f"{path} holds games of another configuration ({'; '.join(changed)}): "
            "use another folder, or the settings it was made with."
        )


def _games(database: sqlite3.Connection) -> dict[str, GameRecord]:
    rows = database.execute("SELECT key, record, seconds FROM games ORDER BY key").fetchall()
    return {
        key: GameRecord.from_json({**json.loads(record), "seconds": json.loads(seconds)})
        for key, record, seconds in rows
    }


def _faults(database: sqlite3.Connection) -> dict[str, list[str]]:
    messages: dict[str, list[str]] = {}
    for key, message in database.execute("SELECT key, message FROM faults ORDER BY key, attempt").fetchall():
        messages.setdefault(key, []).append(message)
    return messages


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            raise StoreError(
                f"{path} cannot be used: it is damaged ({error}); restore it from a copy; nothing in it was changed."
            ) from error
        raise StoreError(
            f"{path} cannot be used ({error}): check that the disk has room and is writable, then run the same command "
            "again; every game stored before is kept."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{path} cannot be used: a row of it is damaged ({type(error).__name__}: {error}); restore it from a copy."
        ) from error


def _lock(folder: Path) -> FileLock:
    path = folder / f"{FILE_NAME}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return FileLock(path)
    except LockHeldError as error:
        raise StoreLockedError(
            f"{folder / FILE_NAME} is open in another process, or a second time in this one: wait for it, stop it, "
            "or use another folder."
        ) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}): choose a folder that can be.") from error
