"""A clean process that forks workers on request: it has imported everything and has never run a program.

Loaded into that process, which is started like a worker, by exec: standard library alone. A request is one byte with
the descriptors of the new worker (requests, replies, stdout, stderr, status) and then a frame with its settings; the
answer is one byte with a descriptor of the process (pidfd). When a worker ends, its status goes to its status pipe.
"""

import _socket
import array
import contextlib
import gc
import os
import select
import struct
from collections.abc import Callable
from typing import Any

from cwm.sandbox.lock import seccomp
from cwm.sandbox.lock.lock import LIBC, end_with_parent, forget_paths
from cwm.sandbox.lock.syscalls import current
from cwm.sandbox.worker import service

CONTROL = 3
REQUESTS, REPLIES = 3, 4
MAX_DESCRIPTOR = 1 << 16
STATUS = struct.Struct("=id")
"""What a status pipe brings: exit code (negative: signal), CPU seconds."""
_COUNT = 5
_DUMPABLE = 4


def serve(read_frame: Callable[[int], Any], settings: dict[str, Any]) -> None:
    """Forks workers until the parent closes the socket.

    Args:
        read_frame: returns the next frame of a descriptor.
        settings: `parent`, see `lock.end_with_parent`.
    """
    end_with_parent(settings["parent"])
    LIBC.prctl(_DUMPABLE, 0, 0, 0, 0)
    architecture = current()
    if architecture is not None:
        seccomp.prepare(architecture)
    forget_paths()
    control = _socket.socket(fileno=CONTROL)
    # The workers share these objects: collecting them would only copy their pages.
    gc.collect()
    gc.freeze()
    control.sendall(b"r")
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    living: dict[int, tuple[int, int]] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in living:
                poll.unregister(descriptor)
                _collect(descriptor, *living.pop(descriptor))
            else:
                pidfd, pid, status = _fork(control, read_frame)
                living[pidfd] = (pid, status)
                poll.register(pidfd, select.POLLIN)


def _fork(control: _socket.socket, read_frame: Callable[[int], Any]) -> tuple[int, int, int]:
    """Takes one request; returns (pidfd, process id, status pipe) of the new worker."""
    data, ancillary, _, _ = control.recvmsg(1, _socket.CMSG_LEN(_COUNT * 4))
    if not data:
        os._exit(0)
    descriptors = array.array("i")
    for _, _, content in ancillary:
        descriptors.frombytes(content)
    settings = read_frame(CONTROL)
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_worker(descriptors, settings, read_frame, own)
    *others, status = descriptors
    for descriptor in others:
        os.close(descriptor)
    pidfd = os.pidfd_open(pid)
    right = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [pidfd]).tobytes())
    control.sendmsg([b"f"], [right])
    return pidfd, pid, status


def _become_worker(
    descriptors: "array.array[int]", settings: dict[str, Any], read_frame: Callable[[int], Any], parent: int
) -> None:
    try:
        os.setsid()
        requests, replies, stdout, stderr, _ = descriptors
        # They arrived in rising order above the control socket, so that none lies where an earlier one belongs.
        for descriptor, place in ((requests, REQUESTS), (replies, REPLIES), (stdout, 1), (stderr, 2)):
            os.dup2(descriptor, place)
        os.closerange(REPLIES + 1, MAX_DESCRIPTOR)
        settings["isolation"]["parent"] = parent
        service.serve(lambda: read_frame(REQUESTS), REPLIES, settings)
    finally:
        os._exit(1)


def _collect(pidfd: int, pid: int, status: int) -> None:
    _, code, usage = os.wait4(pid, 0)
    # Nobody listens any more once the parent has closed the worker.
    with contextlib.suppress(OSError):
        os.write(status, STATUS.pack(os.waitstatus_to_exitcode(code), usage.ru_utime + usage.ru_stime))
    os.close(status)
    os.close(pidfd)
