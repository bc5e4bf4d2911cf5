"""Several runs of one process that ask a language model at the same time: one works at a time, all may wait together.

What is measured, and what the machine must hold, is as for a single run; only answers are waited for side by side.
"""

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Generic, TypeVar

from cwm.llm.api import Completion, LanguageModel, LanguageModelError, Request
from cwm.llm.budget import Budget
from cwm.llm.caps import write_elapsed

Result = TypeVar("Result")


class StoppedError(LanguageModelError):
    """Nothing more is asked, since another run of the process has failed or the user has interrupted it."""


class WorkTurns:
    """Hands the one turn to work from run to run. Thread-safe."""

    def __init__(self, places: int) -> None:
        """Args:
        places: questions under way at once, of all runs together.
        """
        self._places = threading.BoundedSemaphore(places)
        self._free = threading.Condition()
        self._worker: threading.Thread | None = None
        self._queue: deque[threading.Thread] = deque()
        self._stopped = False

    def stop(self) -> None:
        """Lets no run ask anything more: each ends before its next question."""
        with self._free:
            self._stopped = True
            self._free.notify_all()

    def interrupt(self) -> threading.Thread | None:
        """Stops all, and interrupts the run that works as Ctrl-C interrupts the main thread; returns its thread."""
        with self._free:
            self._stopped = True
            worker = self._worker
            if worker is not None and worker.ident is not None:
                # Only who works is interrupted: who waits for an answer is to store it, should it come.
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(worker.ident), ctypes.py_object(KeyboardInterrupt)
                )
            self._free.notify_all()
        return worker

    def take(self, worker: threading.Thread) -> None:
        """Waits until nobody works, and takes the turn for `worker`: who waits longest is next.

        Raises:
            StoppedError: see `stop`.
        """
        with self._free:
            self._queue.append(worker)
            try:
                self._free.wait_for(lambda: self._stopped or (self._worker is None and self._queue[0] is worker))
                self.check()
                self._worker = worker
            finally:
                self._queue.remove(worker)
                self._free.notify_all()

    def check(self) -> None:
        """Raises `StoppedError` if nothing more is to be asked."""
        if self._stopped:
            raise StoppedError("Nothing more is asked, since another synthesis of this run has ended with an error.")

    def give(self, worker: threading.Thread) -> None:
        """Lets another run work, if `worker` has the turn."""
        with self._free:
            if self._worker is worker:
                self._worker = None
                self._free.notify_all()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Waits for a place among the questions under way, and holds it."""
        with self._places:
            yield


class WorkTurn:
    """One run's part: `with turn:` around all of its work, in a thread of its own; `around` its language model."""

    def __init__(self, turns: WorkTurns) -> None:
        self._turns = turns
        self._worker = threading.current_thread()
        self._asking = 0
        self._lock = threading.Lock()

    def __enter__(self) -> "WorkTurn":
        self._worker = threading.current_thread()
        self._turns.take(self._worker)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            # Before anybody else works, and asks.
            self._turns.stop()
        self._turns.give(self._worker)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Lets other runs work while this one waits for an answer, or for several at once.

        Raises:
            StoppedError: nothing more is to be asked; an answer that came is kept.
        """
        with self._lock:
            self._turns.check()
            self._asking += 1
            if self._asking == 1:
                self._turns.give(self._worker)
        try:
            with self._turns.place():
                self._turns.check()
                yield
        finally:
            with self._lock:
                self._asking -= 1
                if self._asking == 0:
                    self._turns.take(self._worker)

    def around(self, model: LanguageModel) -> LanguageModel:
        """Returns the model so that other runs work while it answers; `model` stores answers by itself."""
        return _InTurn(model, self)


@dataclass(frozen=True)
class Among:
    """What a run shares with those beside it.

    Attributes:
        common: what all of them have used, under the caps of all.
        folder: keeps the time that all took.
        turn: its part where they ask at the same time, None where they go one after the other.
        calls: the most calls of the run itself, None where only all together are capped.
    """

    common: Budget
    folder: Path
    turn: WorkTurn | None = None
    calls: int | None = None

    def count_time(self) -> None:
        """Stores the seconds that all of them took so far."""
        write_elapsed(self.folder, self.common)


class _InTurn:
    def __init__(self, model: LanguageModel, turn: WorkTurn) -> None:
        self._model = model
        self._turn = turn

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, request: Request) -> Completion:
        with self._turn.asking():
            return self._model.complete(request)


@dataclass(frozen=True)
class _Ended(Generic[Result]):
    place: int
    result: Result | None = None
    error: BaseException | None = None


def side_by_side(
    jobs: Sequence[Callable[[WorkTurn], Result]], at_once: int, go_on: Callable[[Result], bool]
) -> list[Result]:
    """Does the jobs, so many at once, and returns what came of those that began, in their order.

    Where one fails, the others end before their next question, and what they have asked is waited for: it is paid.
    Where the user interrupts, who works ends at once, and nobody waits for the answers under way.

    Args:
        jobs: each is given its turn, which it holds while it works.
        at_once: threads, and questions under way, at most.
        go_on: whether jobs that have not begun are to begin after this result.

    Raises:
        Exception: what the first job that failed raised.
    """
    turns = WorkTurns(at_once)
    ends: SimpleQueue[_Ended[Result]] = SimpleQueue()
    done: dict[int, Result] = {}
    failed: BaseException | None = None
    waiting = list(enumerate(jobs))
    running = 0
    try:
        while True:
            while waiting and running < at_once:
                threading.Thread(target=_do, args=(turns, *waiting.pop(0), ends), name="run", daemon=True).start()
                running += 1
            if not running:
                break
            end = ends.get()
            running -= 1
            if end.error is not None:
                if failed is None or isinstance(failed, StoppedError):
                    failed = end.error
                turns.stop()
                waiting = []
            elif end.result is not None:
                done[end.place] = end.result
                waiting = waiting if go_on(end.result) else []
    except KeyboardInterrupt:
        worker = turns.interrupt()
        if worker is not None:
            worker.join()
        raise
    if failed is not None:
        raise failed
    return [done[place] for place in sorted(done)]


def _do(turns: WorkTurns, place: int, job: Callable[[WorkTurn], Result], ends: "SimpleQueue[_Ended[Result]]") -> None:
    turn = WorkTurn(turns)
    try:
        with turn:
            result = job(turn)
        ends.put(_Ended(place, result=result))
    except BaseException as error:  # handed to the thread that waits for the job, whatever it is
        ends.put(_Ended(place, error=error))
