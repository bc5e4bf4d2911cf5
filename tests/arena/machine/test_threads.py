import threading
from collections import deque
from contextlib import closing
from typing import Any

import pytest

from arena.machine import threads


def test_every_job_is_done_once_and_as_many_run_at_once_as_asked_for() -> None:
    meeting = threading.Barrier(3, timeout=30)

    def work(job: dict[str, Any]) -> dict[str, Any]:
        meeting.wait()
        return {"square": job["number"] ** 2}

    jobs = [{"number": number} for number in range(6)]
    found = list(threads.run(work, jobs, 3))
    assert sorted(answer["square"] for _, answer in found) == [0, 1, 4, 9, 16, 25]
    assert all(answer["square"] == job["number"] ** 2 for job, answer in found)


def test_a_caller_may_add_jobs_while_it_reads_answers() -> None:
    queue = deque([{"n": 0}])

    class Again:
        def __iter__(self) -> "Again":
            return self

        def __next__(self) -> dict[str, Any]:
            if not queue:
                raise StopIteration
            return queue.popleft()

    seen = []
    for job, _ in threads.run(lambda job: {}, Again(), 2):
        seen.append(job["n"])
        if job["n"] < 3:
            queue.append({"n": job["n"] + 1})
    assert seen == [0, 1, 2, 3]


def test_an_exception_of_the_work_is_raised_where_the_answers_are_read() -> None:
    def work(job: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(threads.run(work, [{}], 1))


def test_nobody_waits_for_what_is_under_way_when_the_answers_are_not_read_on() -> None:
    never = threading.Event()

    def work(job: dict[str, Any]) -> dict[str, Any]:
        if job["waits"]:
            never.wait(60)
        return {}

    with closing(threads.run(work, [{"waits": True}, {"waits": False}], 2)) as answers:
        assert next(answers)[0] == {"waits": False}
    never.set()
