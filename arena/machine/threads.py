"""Games side by side in threads of one process, for agents that wait for answers more than they compute."""

import queue
import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias

Job: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]


def run(work: Callable[[Job], Answer], jobs: Iterable[Job], threads: int) -> Generator[tuple[Job, Answer], None, None]:
    """Yields (job, answer) as jobs finish, in no fixed order.

    `jobs` is read one at a time, as threads fall free: a caller may add to it meanwhile. Threads end with their job;
    when the iterator is closed or the process ends, nobody waits for those under way.

    Args:
        work: called in several threads at once; an exception of it is raised here.
        jobs: what to do.
        threads: how many at once.
    """
    source = iter(jobs)
    answers: queue.SimpleQueue[tuple[Job, Answer | BaseException]] = queue.SimpleQueue()
    running = 0
    while True:
        while running < threads and (job := next(source, None)) is not None:
            threading.Thread(target=_serve, args=(work, job, answers), daemon=True).start()
            running += 1
        if not running:
            return
        done, answer = answers.get()
        running -= 1
        if isinstance(answer, BaseException):
            raise answer
        yield done, answer


def _serve(
    work: Callable[[Job], Answer], job: Job, answers: "queue.SimpleQueue[tuple[Job, Answer | BaseException]]"
) -> None:
    try:
        answers.put((job, work(job)))
    except BaseException as error:  # handed to the thread that waits for the answer, whatever it is
        answers.put((job, error))
