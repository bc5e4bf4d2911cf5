"""Worker processes for games: one job each at a time, a dead one is noticed at once, none outlives its parent."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias

Work: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""A function at the top level of a module: JSON in, JSON out."""


class WorkerDiedError(Exception):
    """A worker process ended in the middle of a job."""


class ProcessPool:
    """Runs jobs in `workers` fresh processes (spawned: nothing of the parent's memory is inherited)."""

    def __init__(self, work: Work, workers: int) -> None:
        self._work = work
        self._count = workers
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[tuple[BaseProcess, Connection]] = []

    def run(
        self, jobs: Iterable[dict[str, Any]]
    ) -> Generator[tuple[dict[str, Any], dict[str, Any] | WorkerDiedError], None, None]:
        """Yields (job, answer) as jobs finish, in no fixed order.

        `jobs` is read one at a time, as processes fall free: a caller may add to it meanwhile. All processes are ended
        when the iterator is closed, whatever the reason.
        """
        source = iter(jobs)
        busy: dict[int, dict[str, Any]] = {}
        idle: list[int] = []
        try:
            while True:
                self._hand_out(source, busy, idle)
                if not busy:
                    return
                for slot in self._ready(busy):
                    job = busy.pop(slot)
                    answer = self._receive(slot)
                    idle.append(slot)
                    yield job, answer
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends every process now, with what it is doing."""
        for process, connection in self._workers:
            connection.close()
            process.terminate()
        for process, _ in self._workers:
            process.join()
        self._workers = []

    def _hand_out(self, source: Iterator[dict[str, Any]], busy: dict[int, dict[str, Any]], idle: list[int]) -> None:
        while idle or len(self._workers) < self._count:
            job = next(source, None)
            if job is None:
                return
            slot = idle.pop() if idle else self._add_worker()
            self._send(slot, job)
            busy[slot] = job

    def _add_worker(self) -> int:
        self._workers.append(self._start())
        return len(self._workers) - 1

    def _start(self) -> tuple[BaseProcess, Connection]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(self._work, theirs))
        process.start()
        theirs.close()
        return process, ours

    def _send(self, slot: int, job: dict[str, Any]) -> None:
        try:
            self._workers[slot][1].send(job)
        except OSError:
            # It died while idle: no job was lost, so a new process takes this one.
            self._workers[slot] = self._start()
            self._workers[slot][1].send(job)

    def _ready(self, busy: dict[int, dict[str, Any]]) -> list[int]:
        slots = {self._workers[slot][1]: slot for slot in busy}
        return sorted(slots[connection] for connection in wait(list(slots)) if isinstance(connection, Connection))

    def _receive(self, slot: int) -> dict[str, Any] | WorkerDiedError:
        process, connection = self._workers[slot]
        try:
            answer: dict[str, Any] = connection.recv()
        except (EOFError, OSError):
            process.join()
            connection.close()
            self._workers[slot] = self._start()
            return WorkerDiedError(f"a worker process ended with exit code {process.exitcode} during a game")
        return answer


def _serve(work: Work, connection: Connection) -> None:
    # Ctrl-C reaches the whole process group: only the parent reacts, and then stops its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(work(job))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
