from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from arena.matches.engine import MAX_FAULTS, Lanes, Unplayed, in_processes, in_threads, play_all

JOBS = [{"key": str(number), "number": number} for number in range(4)]


def square(job: dict[str, Any]) -> dict[str, Any]:
    return {"square": job["number"] ** 2}


def breaking(times: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Work that breaks so often on job 1."""
    calls = Counter[str]()

    def work(job: dict[str, Any]) -> dict[str, Any]:
        calls[job["key"]] += 1
        return {"fault": f"no pipe {calls['1']}"} if job["key"] == "1" and calls["1"] <= times else square(job)

    return work


@pytest.mark.parametrize(
    "lanes",
    [in_processes(square, 1), in_processes(square, 2), in_threads(square, 3)],
    ids=["here", "processes", "threads"],
)
def test_every_job_is_kept_once(lanes: Lanes) -> None:
    kept: list[tuple[str, int]] = []
    assert play_all(iter(JOBS), lanes, lambda key, answer: kept.append((key, answer["square"]))) == Unplayed()
    assert sorted(kept) == [("0", 0), ("1", 1), ("2", 4), ("3", 9)]


def test_a_job_that_ours_broke_waits_behind_the_rest_and_each_fault_is_noted() -> None:
    order: list[str] = []
    noted: list[tuple[str, str]] = []
    unplayed = play_all(
        JOBS,
        in_processes(breaking(MAX_FAULTS - 1), 1),
        lambda key, _: order.append(key),
        lambda *fault: noted.append(fault),
    )
    assert unplayed == Unplayed()
    assert order == ["0", "2", "3", "1"]
    assert noted == [("1", "no pipe 1"), ("1", "no pipe 2")]


def test_a_job_that_ours_keeps_breaking_is_given_up_alone() -> None:
    order: list[str] = []
    unplayed = play_all(JOBS, in_processes(breaking(99), 1), lambda key, _: order.append(key))
    assert unplayed == Unplayed(given_up=f"no pipe {MAX_FAULTS}")
    assert order == ["0", "2", "3"]


def test_no_further_job_is_begun_where_none_would_fare_better() -> None:
    begun: list[str] = []

    def work(job: dict[str, Any]) -> dict[str, Any]:
        begun.append(job["key"])
        return square(job) if job["key"] == "0" else {"fault": "the cap is reached", "stop": True}

    unplayed = play_all(JOBS, in_processes(work, 1), lambda *_: None)
    assert (unplayed.stopped, begun) == ("the cap is reached", ["0", "1"])
