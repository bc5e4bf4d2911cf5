"""The lock that a worker puts on itself before a program is compiled. Loaded into workers: standard library alone."""

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from cwm.sandbox.lock import landlock, seccomp
from cwm.sandbox.lock.seccomp import LockError
from cwm.sandbox.lock.syscalls import Architecture, current

STRONG = ("strong+", "strong")
EXIT_NOT_LOCKED = 97
"""Exit status of a worker that could not lock itself, or whose lock did not hold when it was tried."""
CPU_GRACE_S = 2
MAX_DESCRIPTORS = 16
COMPILERS_FILES = ("/dev/urandom", "/proc/cpuinfo", "/sys/devices/system/cpu")
"""What a compiler reads of the machine."""
_PARENT_DEATH_SIGNAL, _DUMPABLE, _NO_NEW_PRIVILEGES = 1, 4, 38
_CAPABILITIES_VERSION = 0x20080522
_CLONE_THREAD = 0x10000

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
# Looked up now, once for all workers that are forked from here.
_PRCTL, _FORK = LIBC.prctl, LIBC.fork


class Locked(NamedTuple):
    """What holds now.

    Attributes:
        level: isolation level.
        landlock: ABI in force, 0 for none.
    """

    level: str
    landlock: int


def lock(wanted: dict[str, Any]) -> Locked:
    """Locks this process, for good.

    Args:
        wanted: what `isolation.settings` returned.

    Raises:
        LockError: the level cannot be given; nothing must be run.
    """
    level: str = wanted["level"]
    end_with_parent(wanted["parent"])
    _limit(wanted, level)
    if level not in STRONG:
        return Locked(level, 0)
    architecture = current()
    if architecture is None:
        raise LockError("this machine has no strong level: it needs Linux on x86-64 or aarch64")
    _prctl(_DUMPABLE, 0)
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _drop_capabilities(architecture)
    abi = landlock.deny_all(architecture, LIBC) if wanted["landlock"] else 0
    forget_paths()
    seccomp.install(architecture, LIBC)
    _try_out(architecture)
    return Locked(level, abi)


def shut_before_threads(wanted: dict[str, Any], but: Sequence[str] = ()) -> None:
    """Gives up privileges and files while there is one thread alone, which every later one inherits.

    Landlock and capabilities are each thread's own. Libraries start threads of theirs, and `lock` reaches with these
    two the thread that calls it only; what it does by the filter of system calls holds for all.

    Args:
        wanted: what `isolation.settings` returned.
        but: files that may still be read.

    Raises:
        LockError: the level cannot be given, or there are several threads; nothing must be run.
    """
    architecture = current()
    if wanted["level"] not in STRONG or architecture is None:
        return
    if _has_threads(architecture):
        raise LockError(
            "a library started threads before the worker locked itself; they would stay outside of the lock"
        )
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _drop_capabilities(architecture)
    if wanted["landlock"]:
        landlock.deny_all(architecture, LIBC, but)


def guard(parent: int) -> bool:
    """Shuts in a process of our own code that needs threads and executable memory; there must be one thread alone.

    It ends with its parent, has no privileges, opens no file but `COMPILERS_FILES`, makes no sockets and no processes.

    Args:
        parent: process id of the parent.

    Returns:
        Whether this machine has what that needs; if not, it only ends with its parent.

    Raises:
        LockError: the machine has it, and it cannot be had.
    """
    end_with_parent(parent)
    architecture = current()
    if architecture is None:
        return False
    shut_before_threads({"level": STRONG[-1], "landlock": True}, but=COMPILERS_FILES)
    seccomp.install(architecture, LIBC, seccomp.assemble_guard(architecture, os.getpid()))
    return True


def _has_threads(architecture: Architecture) -> bool:
    try:
        return len(os.listdir("/proc/self/task")) > 1
    except OSError:
        # Without /proc: the kernel refuses this to a process of several threads, and else does nothing.
        refused: int = LIBC.syscall(architecture.numbers["unshare"], _CLONE_THREAD)
        return refused != 0


def forget_paths() -> None:
    """Ends the search for modules: nothing could be read, and so an import fails at once and says so plainly."""
    sys.path.clear()
    sys.path_importer_cache.clear()


def end_with_parent(parent: int | None) -> None:
    """Has the kernel kill this process when the thread that started it ends.

    Args:
        parent: process id of the parent; None inside a process namespace, whose founder sees to it.

    Raises:
        LockError: the parent is gone already.
    """
    if not sys.platform.startswith("linux") or parent is None:
        return
    _prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        raise LockError("the parent ended while its worker started")


def _limit(wanted: dict[str, Any], level: str) -> None:
    memory = int(wanted["memory_mb"]) * 1024 * 1024
    cpu = int(wanted["cpu_s"])
    caps = [
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu, cpu + CPU_GRACE_S),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, MAX_DESCRIPTORS, MAX_DESCRIPTORS),
    ]
    if level in STRONG:
        caps.append((resource.RLIMIT_NPROC, 0, 0))
    for which, soft, hard in caps:
        try:
            _cap(which, soft, hard)
        except (OSError, ValueError) as error:
            if level in STRONG:
                raise LockError(f"a limit of resources cannot be set: {error}") from error


def _cap(which: int, soft: int, hard: int) -> None:
    _, allowed = resource.getrlimit(which)
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    resource.setrlimit(which, (soft, hard))


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    if _PRCTL(option, ctypes.c_ulong(value), zero, zero, zero) != 0:
        raise LockError(f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}")


def _drop_capabilities(architecture: Architecture) -> None:
    """Gives up what root may do beyond others, so that a hole in the filter would not be a hole in the machine."""
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    if LIBC.syscall(architecture.numbers["capset"], header, bytes(24)) != 0:
        raise LockError(f"privileges cannot be given up: {os.strerror(ctypes.get_errno())}")


def _try_out(architecture: Architecture) -> None:
    """Tries what must fail now.

    Raises:
        LockError: something succeeded.
    """
    numbers = architecture.numbers
    attempts = {
        "open a file": lambda: LIBC.syscall(numbers["openat"], -100, b"/", 0, 0),
        "open a socket": lambda: LIBC.syscall(numbers["socket"], 1, 1, 0),
        "make memory executable": lambda: LIBC.syscall(numbers["mmap"], None, 4096, 5, 0x22, -1, 0),
        "fork": _fork,
    }
    for what, attempt in attempts.items():
        if attempt() != -1 or ctypes.get_errno() != 1:
            raise LockError(f"the lock does not hold: the worker could {what}")


def _fork() -> int:
    child: int = _FORK()
    if child == 0:
        os._exit(EXIT_NOT_LOCKED)
    return child
