"""One process a run: a lock that the operating system drops when its holder dies, however it dies."""

import fcntl
import os
from pathlib import Path
from typing import Self

from cwm.storage.journal import RunLockedError, storage_error

LOCK_FILE = "lock"

_held: set[Path] = set()
"""Folders locked by this process: record locks do not stop their own process."""


class RunLock:
    """Holds a run's folder until `release`, or the end of a `with`.

    Args:
        folder: the run's folder; it must exist.

    Raises:
        RunLockedError: another process, or another record in this one, holds it.
        RunStorageError: the lock file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        if self._folder in _held:
            raise RunLockedError(f"{folder} is open already in this process; close that record first.")
        path = folder / LOCK_FILE
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise storage_error(path, error) from error
        try:
            # A record lock, not flock: it does not pass to forked children that may outlive this process.
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise RunLockedError(
                f"{folder} is locked: process {holder} works on it; wait for it to end, or use another folder."
            ) from error
        self._write_holder(path)
        _held.add(self._folder)

    def _write_holder(self, path: Path) -> None:
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        except OSError as error:
            os.close(self._descriptor)
            raise storage_error(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        """Lets other processes in; the lock file stays, since removing it would race with them."""
        _held.discard(self._folder)
        os.close(self._descriptor)


def holder(folder: Path) -> str | None:
    """Returns the number of the other process that works on a run's folder, None if none does; changes nothing."""
    if folder.resolve() in _held:
        # Closing any descriptor of the file would drop this process's own lock.
        return None
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
    finally:
        os.close(descriptor)
    return None
