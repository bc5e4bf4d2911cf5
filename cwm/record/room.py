"""Room on the disk for an answer that is paid for: made sure of before it is asked for."""

import errno
import os
from pathlib import Path
from typing import Final

from cwm.storage.journal import RunStorageError, storage_error

PER_TOKEN: Final = 32
"""Bytes for a token of an answer: its text with escapes, once in the database and once in what is written ahead."""
BESIDE: Final = 1 << 20
"""Bytes for what else is stored with an answer."""
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def reserve(room: Path, tokens: int) -> None:
    """Takes the room of an answer, to be given back by `release` just before the answer is stored.

    Args:
        room: file that takes it; one that is there is replaced.
        tokens: cap of the answer.

    Raises:
        RunStorageError: there is none.
    """
    size = PER_TOKEN * tokens + BESIDE
    try:
        with room.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.write(bytes(size))
                os.fsync(file.fileno())
    except OSError as error:
        release(room)
        if error.errno not in FULL:
            raise storage_error(room, error) from error
        raise RunStorageError(
            f"the disk is full: {room.parent} has no room for an answer of up to {tokens:,} tokens "
            f"({size / 2**20:.1f} MiB), so nothing was asked; free space, then run the same command again: everything "
            "recorded so far is kept."
        ) from error


def release(room: Path) -> None:
    """Gives the room back; without any it does nothing."""
    room.unlink(missing_ok=True)
