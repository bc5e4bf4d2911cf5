"""A filter of system calls that a worker puts on itself, for good. Loaded into workers: standard library alone.

The filter is a program for the kernel's classic BPF machine: it looks at the number and the arguments of every system
call. What is not on the list fails with EPERM, which a program sees as a PermissionError.
"""

import ctypes
import os
import struct

from cwm.sandbox.lock.syscalls import ALLOWED, DENIED, KILLED, Architecture

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
REFUSE = 0x00050000 | 1
"""Fail with EPERM."""
NOT_THERE = 0x00050000 | 38
"""Fail with ENOSYS."""
PROT_EXEC = 4
_CLONE_THREAD = 0x10000
LAST_PLAIN_ADVICE = 25
"""Kinds of madvise above it are made for root: they break memory on purpose."""

_LOAD, _EQUAL, _AT_LEAST, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x25, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_SET_MODE_FILTER, _ALL_THREADS = 1, 1

_OWN_PID = 0x5AFE5AFE
"""Stands for the process id until that is known."""

_Instruction = tuple[int, int, int, int]
_assembled: dict[int, tuple[bytes, bytes]] = {}


class LockError(RuntimeError):
    """The process cannot be shut in as asked; no program may be run in it."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def assemble(architecture: Architecture, pid: int) -> bytes:
    """Returns the filter as machine words.

    Args:
        architecture: whose numbers.
        pid: the process that it is for; only itself it may signal.
    """
    before, after = _assembled.get(architecture.audit) or prepare(architecture)
    return before + struct.pack("=I", pid) + after


def prepare(architecture: Architecture) -> tuple[bytes, bytes]:
    """Assembles the filter up to the process id and from there on, so that processes forked later need not."""
    numbers = architecture.numbers
    code = _beginning(architecture)
    checks = {
        "mmap": _argument(2, _ANY_BIT, PROT_EXEC, REFUSE, ALLOW),
        "mprotect": _argument(2, _ANY_BIT, PROT_EXEC, REFUSE, ALLOW),
        "madvise": _argument(2, _ABOVE, LAST_PLAIN_ADVICE, REFUSE, ALLOW),
        "tgkill": _argument(0, _EQUAL, _OWN_PID, ALLOW, REFUSE),
    }
    for name in ALLOWED:
        if name in checks:
            code += [(_EQUAL, 0, len(checks[name]), numbers[name]), *checks[name]]
        elif name in numbers:
            code += _when(_EQUAL, numbers[name], ALLOW)
    for name in KILLED:
        code += _when(_EQUAL, numbers[name], KILL_PROCESS)
    code.append((_RETURN, 0, 0, REFUSE))
    words = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    before, after = words.split(struct.pack("=I", _OWN_PID))
    _assembled[architecture.audit] = (before, after)
    return before, after


def _beginning(architecture: Architecture) -> list[_Instruction]:
    """Returns what filters begin with: calls of another architecture end the process, else the number is loaded."""
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        *_unless(_EQUAL, architecture.audit, KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture.foreign_from is not None:
        code += _when(_AT_LEAST, architecture.foreign_from, KILL_PROCESS)
    return code


def assemble_guard(architecture: Architecture, pid: int) -> bytes:
    """Returns another filter, for code of our own that needs threads and makes memory executable: it denies a list.

    Args:
        architecture: whose numbers.
        pid: the process that it is for; only itself it may signal.
    """
    numbers = architecture.numbers
    code = _beginning(architecture)
    checks = {
        "clone": _argument(0, _ANY_BIT, _CLONE_THREAD, ALLOW, REFUSE),
        "tgkill": _argument(0, _EQUAL, pid, ALLOW, REFUSE),
        # The limits of this process are asked for when a thread starts.
        "prlimit64": _argument(0, _EQUAL, 0, ALLOW, REFUSE),
    }
    for name, checked in checks.items():
        code += [(_EQUAL, 0, len(checked), numbers[name]), *checked]
    # Its arguments cannot be looked at; who meets that it is not there takes `clone`.
    code += _when(_EQUAL, numbers["clone3"], NOT_THERE)
    for names, verdict in ((DENIED, REFUSE), (KILLED, KILL_PROCESS)):
        for name in names:
            if name in numbers:
                code += _when(_EQUAL, numbers[name], verdict)
    code.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def install(architecture: Architecture, libc: ctypes.CDLL, words: bytes | None = None) -> None:
    """Puts the filter on this process, all threads, for good; `no_new_privs` must be set.

    Args:
        architecture: whose numbers.
        libc: by which the kernel is called.
        words: of another filter, None for that of workers.

    Raises:
        LockError: the kernel does not take it.
    """
    words = words or assemble(architecture, os.getpid())
    buffer = ctypes.create_string_buffer(words, len(words))
    program = _Program(len(words) // 8, ctypes.addressof(buffer))
    number = architecture.numbers["seccomp"]
    if libc.syscall(number, _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)) != 0:
        raise LockError(f"the kernel refuses the filter of system calls: {os.strerror(ctypes.get_errno())}")


def _when(test: int, value: int, verdict: int) -> list[_Instruction]:
    return [(test, 0, 1, value), (_RETURN, 0, 0, verdict)]


def _unless(test: int, value: int, verdict: int) -> list[_Instruction]:
    return [(test, 1, 0, value), (_RETURN, 0, 0, verdict)]


def _argument(index: int, test: int, value: int, verdict: int, otherwise: int) -> list[_Instruction]:
    """Decides on the low word of an argument: all that the kernel looks at in these calls."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * index),
        *_when(test, value, verdict),
        (_RETURN, 0, 0, otherwise),
    ]
