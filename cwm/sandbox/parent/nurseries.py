"""The parent's end of nurseries: one clean process for each kind of worker, from which workers are forked."""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence

from cwm.sandbox.lock.lock import STRONG
from cwm.sandbox.parent import payload
from cwm.sandbox.parent.channel import HEADER, Channel
from cwm.sandbox.parent.child import ForkedChild
from cwm.sandbox.parent.isolation import Isolation
from cwm.sandbox.parent.launch import START_S, Started, confirmed, execute, settings_of
from cwm.sandbox.wire.api import Limits, SandboxUnavailableError

_Kind = tuple[bool, int, tuple[str, ...]]
"""Whether it is wrapped, its hash seed, and its modules: what a worker has of the nursery that forks it."""


class NurseryError(Exception):
    """No worker comes from the nursery; one can be started by exec instead."""


class Nursery:
    """One clean process. Safe to use from several threads."""

    def __init__(self, isolation: Isolation, modules: Sequence[str]) -> None:
        """Args:
        isolation: how it and its workers are wrapped.
        modules: trusted modules beside the core, in order.

        Raises:
            NurseryError: it does not start.
        """
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(START_S)
        number = str(theirs.fileno())
        with open(os.devnull, "wb") as nowhere:
            try:
                descriptors = (theirs.fileno(), nowhere.fileno())
                self._process = execute(
                    isolation, ["nursery", number, number], descriptors, nowhere.fileno(), subprocess.DEVNULL
                )
            except SandboxUnavailableError as error:
                self._socket.close()
                raise NurseryError(str(error)) from error
            finally:
                theirs.close()
        settings = {"parent": None if isolation.wraps else os.getpid()}
        setup = json.dumps({"modules": payload.encoded(modules), "settings": settings}).encode("ascii")
        try:
            self._socket.sendall(HEADER.pack(len(setup)) + setup)
            if self._socket.recv(1) != b"r":
                raise NurseryError("the nursery ended while it started")
        except OSError as error:
            self.close()
            raise NurseryError(f"the nursery does not start: {error}") from error
        except BaseException:
            self.close()
            raise

    def fork(self, isolation: Isolation, limits: Limits, first: bytes | None = None) -> Started:
        """Forks a worker and waits until it is locked; `first` is its first request.

        Raises:
            NurseryError: the nursery is gone.
            SandboxUnavailableError: the worker cannot be locked.
        """
        settings = settings_of(isolation, limits)
        request_read, request_write = os.pipe()
        pipes = [os.pipe() for _ in range(4)]
        ours = [read for read, _ in pipes]
        theirs = [request_read, *(write for _, write in pipes)]
        try:
            pidfd = self._exchange(theirs, json.dumps(settings).encode("ascii"))
        except BaseException:
            for descriptor in (request_write, *ours):
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        replies, stdout, stderr, status = ours
        child = ForkedChild(pidfd, status, stdout, stderr)
        channel = Channel(child, request_write, replies, limits.output_bytes)
        return confirmed(channel, settings, [] if first is None else [first])

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends the process, and with it every worker that it forked."""
        self._socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def forget(self) -> None:
        """Lets go of the process in a copy of this process, which is not its parent."""
        self._socket.close()

    def _exchange(self, descriptors: list[int], settings: bytes) -> int:
        with self._lock:
            try:
                socket.send_fds(self._socket, [b"w"], descriptors)
                self._socket.sendall(HEADER.pack(len(settings)) + settings)
                data, received, _, _ = socket.recv_fds(self._socket, 1, 1)
            except OSError as error:
                raise NurseryError(f"the nursery does not answer: {error}") from error
        if data != b"f" or len(received) != 1:
            raise NurseryError("the nursery ended")
        os.set_inheritable(received[0], False)
        return received[0]


_lock = threading.Lock()
_known: dict[_Kind, Nursery | None] = {}
_retired: list[Nursery] = []


def supported(isolation: Isolation) -> bool:
    """Returns whether workers of this isolation can come from a nursery."""
    return isolation.level in STRONG and hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")


def fork(isolation: Isolation, limits: Limits, modules: Sequence[str], first: bytes | None = None) -> Started:
    """Forks a worker from the nursery of its kind, which is started if there is none; `first` is its first request.

    Raises:
        NurseryError: no nursery of the kind can be had.
        SandboxUnavailableError: the worker cannot be locked.
    """
    kind = (isolation.wraps, isolation.hash_seed, tuple(modules))
    nursery = _of(kind, isolation)
    try:
        return nursery.fork(isolation, limits, first)
    except SandboxUnavailableError:
        raise
    except BaseException:
        # The answer to a request that was broken off would be taken for the next one's. Its workers live on.
        with _lock:
            if _known.get(kind) is nursery:
                del _known[kind]
                if nursery.ended:
                    nursery.close()
                else:
                    _retired.append(nursery)
        raise


def close_all() -> None:
    """Ends every nursery of this process, with the workers that are left."""
    with _lock:
        for nursery in [*_known.values(), *_retired]:
            if nursery is not None:
                nursery.close()
        _known.clear()
        _retired.clear()


def _of(kind: _Kind, isolation: Isolation) -> Nursery:
    with _lock:
        if kind not in _known:
            _known[kind] = None
            _known[kind] = Nursery(isolation, kind[-1])
        nursery = _known[kind]
    if nursery is None:
        raise NurseryError("the nursery did not start before")
    return nursery


def _forget_after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for nursery in [*_known.values(), *_retired]:
        if nursery is not None:
            nursery.forget()
    _known.clear()
    _retired.clear()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
