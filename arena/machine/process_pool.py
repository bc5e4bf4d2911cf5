"""Worker processes for games: one job each at a time, a dead one is noticed at once, none outlives its parent."""

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeAlias

import cwm
from cwm.llm.provider_table import key_variables

Work: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""A function at the top level of a module: JSON in, JSON out."""


class WorkerDiedError(Exception):
    """A worker process ended in the middle of a job."""


class WorkerStartError(WorkerDiedError):
    """Worker processes end one after the other before they can take a job."""


_READY: Final = "ready"
"""What a worker says once it runs."""
_MOST_DEATHS_AT_START: Final = 3


@dataclass
class _Slot:
    """A place for one worker process at a time.

    Attributes:
        process: the worker.
        connection: our end of its pipe.
        ready: whether the worker has said that it runs.
    """

    process: BaseProcess
    connection: Connection
    ready: bool = False


class ProcessPool:
    """Runs jobs in `workers` fresh processes (spawned: nothing of the parent's memory is inherited)."""

    def __init__(self, work: Work, workers: int) -> None:
        self._pickled = pickle.dumps(partial(_serve, work))
        self._count = workers
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Slot] = []
        self._deaths_at_start = 0

    def run(
        self, jobs: Iterable[dict[str, Any]]
    ) -> Generator[tuple[dict[str, Any], dict[str, Any] | WorkerDiedError], None, None]:
        """Yields (job, answer) as jobs finish, in no fixed order.

        `jobs` is read one at a time, as processes fall free: a caller may add to it meanwhile. All processes are ended
        when the iterator is closed, whatever the reason.

        Raises:
            WorkerStartError: three processes in a row ended before they could take a job.
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
                    answer = self._receive(slot, busy[slot])
                    if answer is None:
                        continue
                    idle.append(slot)
                    yield busy.pop(slot), answer
        finally:
            self.stop()

    def stop(self) -> None:
        """Ends every process now, with what it is doing."""
        for worker in self._workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
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

    def _start(self) -> _Slot:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=cwm.begin, args=(self._pickled, theirs))
        with _without_keys():
            process.start()
        theirs.close()
        return _Slot(process, ours)

    def _send(self, slot: int, job: dict[str, Any]) -> None:
        try:
            self._workers[slot].connection.send(job)
        except OSError:
            # It died while idle: no job was lost, so a new process takes this one.
            self._replace(slot)
            self._workers[slot].connection.send(job)

    def _ready(self, busy: dict[int, dict[str, Any]]) -> list[int]:
        slots = {self._workers[slot].connection: slot for slot in busy}
        return sorted(slots[connection] for connection in wait(list(slots)) if isinstance(connection, Connection))

    def _receive(self, slot: int, job: dict[str, Any]) -> dict[str, Any] | WorkerDiedError | None:
        """Returns what came of `job`, None if that is still open."""
        worker = self._workers[slot]
        try:
            answer: dict[str, Any] | str = worker.connection.recv()
        except (EOFError, OSError):
            self._replace(slot)
            if worker.ready:
                return WorkerDiedError(f"a worker process ended with exit code {worker.process.exitcode} during a game")
            # It never saw the job.
            self._send(slot, job)
            return None
        if isinstance(answer, str):
            worker.ready = True
            self._deaths_at_start = 0
            return None
        return answer

    def _replace(self, slot: int) -> None:
        """Puts a new process in the place of a dead one, unless processes die as soon as they are started."""
        worker = self._workers[slot]
        worker.process.join()
        worker.connection.close()
        self._deaths_at_start += not worker.ready
        if self._deaths_at_start == _MOST_DEATHS_AT_START:
            raise WorkerStartError(
                f"{_MOST_DEATHS_AT_START} worker processes in a row ended before they could begin, the last with exit "
                f"code {worker.process.exitcode}; a script of your own must be a file and start the work under "
                "`if __name__ == '__main__':`, otherwise see what the processes printed."
            )
        self._workers[slot] = self._start()


@contextmanager
def _without_keys() -> Iterator[None]:
    """Takes the keys of language models out of the environment that a new process inherits: games need none."""
    kept = {name: os.environ.pop(name) for name in key_variables() if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def _serve(work: Work, connection: Connection) -> None:
    # Ctrl-C reaches the whole process group: only the parent reacts, and then stops its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        connection.send(_READY)
    except OSError:
        return
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
