"""Runs that ask at the same time: one works, all wait together, and nothing that was answered is lost."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from arena.runs.turns import StoppedError, WorkTurn, side_by_side
from cwm.llm.api import Completion, LanguageModelError, Message, Request, Usage
from cwm.llm.concurrency import answers_of

REQUEST = Request((Message("user", "x"),), "test", 10)
ANSWER = Completion("hi", "ok", "m-1", Usage(1, 1))


class Model:
    """Answers as it is told, and keeps what it has answered, as a journal does."""

    name = "openai:m"

    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer
        self.stored = 0

    def complete(self, request: Request) -> Completion:
        self._answer()
        self.stored += 1
        return ANSWER


def test_all_wait_for_answers_together_and_one_works_at_a_time() -> None:
    together = threading.Barrier(3)
    model = Model(lambda: together.wait(30))
    at_work: list[int] = []
    most = 0

    def job(turn: WorkTurn) -> int:
        nonlocal most
        asked = turn.around(model)
        for _ in range(3):
            asked.complete(REQUEST)
            at_work.append(1)
            most = max(most, len(at_work))
            time.sleep(0.001)
            at_work.pop()
        return threading.get_ident()

    assert len(set(side_by_side([job] * 3, 3, lambda _: True))) == 3
    assert (most, model.stored) == (1, 9)


def test_no_more_questions_are_under_way_than_allowed_even_if_each_run_asks_several() -> None:
    under_way: list[int] = []
    most = 0

    def answer() -> None:
        nonlocal most
        under_way.append(1)
        most = max(most, len(under_way))
        time.sleep(0.002)
        under_way.pop()

    def job(turn: WorkTurn) -> int:
        return len(answers_of(turn.around(Model(answer)), [REQUEST] * 6, 2))

    assert side_by_side([job] * 2, 2, lambda _: True) == [6, 6]
    assert most == 2


def test_results_come_in_the_order_of_the_jobs_and_none_begins_behind_one_that_ends_them() -> None:
    first_may_end = threading.Event()

    def slow(turn: WorkTurn) -> str:
        turn.around(Model(lambda: first_may_end.wait(30))).complete(REQUEST)
        return "slow"

    def quick(turn: WorkTurn) -> str:
        first_may_end.set()
        return "quick"

    assert side_by_side([slow, quick], 2, lambda _: True) == ["slow", "quick"]
    assert side_by_side([quick, quick, slow], 1, lambda end: False) == ["quick"]


def test_where_one_run_fails_the_others_keep_the_answer_under_way_and_ask_nothing_more() -> None:
    under_way, failed = threading.Event(), threading.Event()
    kept = Model(lambda: (under_way.set(), failed.wait(30)))

    def wrong_key() -> None:
        under_way.wait(30)
        failed.set()
        raise LanguageModelError("the key is wrong")

    def fails(turn: WorkTurn) -> None:
        turn.around(Model(wrong_key)).complete(REQUEST)

    def goes_on(turn: WorkTurn) -> None:
        for _ in range(100):
            turn.around(kept).complete(REQUEST)

    with pytest.raises(LanguageModelError, match="the key is wrong") as caught:
        side_by_side([goes_on, fails], 2, lambda _: True)
    assert not isinstance(caught.value, StoppedError)
    assert 1 <= kept.stored < 100


@pytest.mark.usefixtures("ctrl_c_counts")
def test_ctrl_c_ends_who_works_at_once_and_waits_for_no_answer() -> None:
    never, ended = threading.Event(), threading.Event()
    waits = Model(lambda: never.wait(60))

    def asks(turn: WorkTurn) -> None:
        turn.around(waits).complete(REQUEST)

    def works(turn: WorkTurn) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            while True:
                time.sleep(0.001)
        except KeyboardInterrupt:
            ended.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        side_by_side([asks, works], 2, lambda _: True)
    assert ended.is_set()
    assert not never.is_set()
    never.set()
