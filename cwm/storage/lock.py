"""One process a folder: a lock that the operating system drops when its holder dies, however it dies."""

import fcntl
import os
from pathlib import Path
from typing import Self

from cwm.storage.journal import RunLockedError, storage_error

LOCK_FILE = "lock"

_held: set[Path] = set()
"""Files locked by this process: record locks do not stop their own process."""


class LockHeldError(Exception):
    """Somebody holds the lock.

    Attributes:
        holder: number of the process, `unknown` if its file does not say; None: this one.
    """

    def __init__(self, path: Path, holder: str | None) -> None:
        super().__init__(f"{path} is locked by {'this process' if holder is None else f'process {holder}'}.")
        self.holder = holder


class FileLock:
    """Holds a lock file until `release`, which may be called more than once, or the end of a `with`.

    Args:
        path: of the file, which is made if it is missing.

    Raises:
        LockHeldError: another process holds it, or this one does already.
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        if self._path in _held:
            raise LockHeldError(path, None)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(self._descriptor, path)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        except BaseException:
            os.close(self._descriptor)
            raise
        _held.add(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        """Lets others in; the lock file stays, since removing it would race with them."""
        if self._path in _held:
            _held.discard(self._path)
            os.close(self._descriptor)


class RunLock(FileLock):
    """Holds a run's folder.

    Args:
        folder: the run's folder; it must exist.

    Raises:
        RunLockedError: another process, or another record in this one, holds it.
        RunStorageError: the lock file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            super().__init__(folder / LOCK_FILE)
        except LockHeldError as error:
            if error.holder is None:
                raise RunLockedError(f"{folder} is open already in this process; close that record first.") from error
            raise RunLockedError(
                f"{folder} is locked: process {error.holder} works on it; wait for it to end, or use another folder."
            ) from error
        except OSError as error:
            raise storage_error(folder / LOCK_FILE, error) from error


def _lock(descriptor: int, path: Path) -> None:
    try:
        # A record lock, not flock: it does not pass to forked children that may outlive this process.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise LockHeldError(path, _holder(descriptor)) from error


def _holder(descriptor: int) -> str:
    return os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"


def holder(folder: Path) -> str | None:
    """Returns the number of the other process that works on a run's folder, None if none does; changes nothing."""
    path = folder / LOCK_FILE
    if path.resolve() in _held:
        # Closing any descriptor of the file would drop this process's own lock.
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)
    return None
