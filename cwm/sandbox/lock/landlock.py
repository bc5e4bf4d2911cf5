"""Landlock: the kernel's own list of files and ports that a process may reach; here, none. Loaded into workers.

A second wall behind the filter of system calls; kernels without it have the first alone.
"""

import ctypes
import os
import struct
from collections.abc import Sequence

from cwm.sandbox.lock.seccomp import LockError
from cwm.sandbox.lock.syscalls import Architecture

_VERSION = 1
_PATH_BENEATH, _READ_FILE = 1, 1 << 2
_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
"""Rights on files, by the first ABI that knows them all: up to 1 everything but rename across folders, then truncate,
then ioctl on devices."""
_PORTS = {4: 0b11}
"""Bind and connect of TCP."""
_SCOPES = {6: 0b11}
"""Abstract Unix sockets and signals to processes outside."""


def abi(architecture: Architecture, libc: ctypes.CDLL) -> int:
    """Returns the kernel's Landlock ABI, 0 if it has none."""
    found: int = libc.syscall(architecture.numbers["landlock_create_ruleset"], None, 0, _VERSION)
    return max(0, found)


def deny_all(architecture: Architecture, libc: ctypes.CDLL, but: Sequence[str] = ()) -> int:
    """Takes every right away that the kernel knows; `no_new_privs` must be set.

    Args:
        architecture: whose numbers.
        libc: by which the kernel is called.
        but: files and folders whose files may still be read, where they are there.

    Returns:
        The ABI, 0 if the kernel has no Landlock.

    Raises:
        LockError: the kernel has it and does not grant it.
    """
    version = abi(architecture, libc)
    if version == 0:
        return 0
    attributes = struct.pack("=QQQ", *(_best(table, version) for table in (_FILES, _PORTS, _SCOPES)))
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(architecture.numbers["landlock_create_ruleset"], attributes, size, 0)
    if ruleset < 0:
        raise LockError(f"the kernel refuses a Landlock ruleset: {os.strerror(ctypes.get_errno())}")
    for path in filter(os.path.exists, but):
        _allow_reading(architecture, libc, ruleset, path)
    failed = libc.syscall(architecture.numbers["landlock_restrict_self"], ruleset, 0) != 0
    reason = os.strerror(ctypes.get_errno())
    os.close(ruleset)
    if failed:
        raise LockError(f"the kernel refuses to enforce Landlock: {reason}")
    return version


def _allow_reading(architecture: Architecture, libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", _READ_FILE, file)
    failed = libc.syscall(architecture.numbers["landlock_add_rule"], ruleset, _PATH_BENEATH, rule, 0) != 0
    reason = os.strerror(ctypes.get_errno())
    os.close(file)
    if failed:
        raise LockError(f"the kernel refuses a Landlock rule: {reason}")


def _best(table: dict[int, int], version: int) -> int:
    return max((rights for first, rights in table.items() if first <= version), default=0)
