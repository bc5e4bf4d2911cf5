"""Plays games side by side: what ours broke is played again, and never scored.

A job is JSON with a `key`, and its answer is JSON. One with `fault`, the message of what broke, is no result; with
`stop` beside it no other job would fare better.
"""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from arena.machine import threads as side_by_side
from arena.machine.process_pool import ProcessPool, Work, WorkerDiedError

MAX_FAULTS: Final = 3
"""A game that ours broke this often in one run is given up until the next run."""

Job: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]
Lanes: TypeAlias = Callable[[Iterable[Job]], Generator[tuple[Job, Answer | WorkerDiedError], None, None]]
"""Plays jobs and yields (job, answer) as they finish; reads the jobs one at a time, as a lane falls free."""


@dataclass(frozen=True)
class Unplayed:
    """What could not be played.

    Attributes:
        given_up: the message of the last job that was given up; None if there was none.
        stopped: why no further job was begun; None if nothing stopped the games.
    """

    given_up: str | None = None
    stopped: str | None = None


def play_all(
    jobs: Iterable[Job],
    lanes: Lanes,
    keep: Callable[[str, Answer], object],
    note: Callable[[str, str], object] = lambda key, message: None,
) -> Unplayed:
    """Plays every job until it has a result, or ours broke it `MAX_FAULTS` times.

    One that broke waits behind the rest.

    Args:
        jobs: those that have no result yet.
        lanes: see `in_processes` and `in_threads`.
        keep: takes the key and the result of each finished job, before another is waited for.
        note: told the key and the message of each fault.
    """
    queue, faults = _Queue(jobs), Counter[str]()
    given_up: str | None = None
    with closing(lanes(queue)) as answers:
        for job, answer in answers:
            key = job["key"]
            if isinstance(answer, WorkerDiedError):
                answer = {"fault": str(answer)}
            if "fault" not in answer:
                keep(key, answer)
                continue
            message = str(answer["fault"])
            note(key, message)
            if answer.get("stop"):
                return Unplayed(given_up, message)
            faults[key] += 1
            if faults[key] < MAX_FAULTS:
                queue.again.append(job)
            else:
                given_up = message
    return Unplayed(given_up)


def in_processes(work: Work, workers: int) -> Lanes:
    """Returns lanes of so many worker processes; 1 plays in this process."""
    return ProcessPool(work, workers).run if workers > 1 else partial(_one_by_one, work)


def in_threads(work: Work, threads: int) -> Lanes:
    """Returns lanes of so many threads of this process."""
    return lambda jobs: side_by_side.run(work, jobs, threads)


def _one_by_one(work: Work, jobs: Iterable[Job]) -> Generator[tuple[Job, Answer], None, None]:
    for job in jobs:
        yield job, work(job)


class _Queue:
    """Jobs in order, then those that broke; may be asked again after it was empty."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self.again: deque[Job] = deque()
        self._fresh = iter(jobs)

    def __iter__(self) -> Iterator[Job]:
        return self

    def __next__(self) -> Job:
        job = next(self._fresh, None)
        if job is not None:
            return job
        if not self.again:
            raise StopIteration
        return self.again.popleft()
