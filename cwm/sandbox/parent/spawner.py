"""Starts processes from one thread that lives as long as this process.

The kernel kills a worker when its parent dies, but by "parent" it means the thread that started it: a worker started
from a pool's thread would be killed when the pool is done, and one that asked for nothing would outlive us.
"""

import os
import queue
import subprocess
import threading
from concurrent.futures import Future
from typing import Any

_Job = tuple["Future[subprocess.Popen[bytes]]", list[str], dict[str, Any]]


class _Spawner:
    """The thread and its queue; of no use in a process forked from this one, where the thread does not exist."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="worker spawner", daemon=True).start()

    def submit(self, command: list[str], options: dict[str, Any]) -> "Future[subprocess.Popen[bytes]]":
        future: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((future, command, options))
        return future

    def _serve(self) -> None:
        while True:
            future, command, options = self._jobs.get()
            try:
                process: Any = subprocess.Popen(command, **options)
                future.set_result(process)
            except BaseException as error:
                future.set_exception(error)


_lock = threading.Lock()
_current: _Spawner | None = None


def popen(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Does what `subprocess.Popen` does, in the spawner's thread.

    Raises:
        OSError: the process cannot be started.
    """
    global _current
    with _lock:
        if _current is None or _current.pid != os.getpid():
            _current = _Spawner()
        future = _current.submit(command, options)
    try:
        return future.result()
    except (KeyboardInterrupt, SystemExit):
        future.add_done_callback(_discard)
        raise


def _forget_after_fork() -> None:
    global _current, _lock
    _current, _lock = None, threading.Lock()


def _discard(future: "Future[subprocess.Popen[bytes]]") -> None:
    if future.exception() is None:
        process = future.result()
        process.kill()
        process.wait()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
