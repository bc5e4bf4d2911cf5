"""Time that a worker stands in line for a processor is not counted against its program."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from cwm.sandbox.parent.channel import HEADER, MOST_STARVED, Channel, DeadlineError
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource

LIMIT_S = 1.0
RIVALS = 5
SPIN = "for number in range(x): pass"
MakeProgram: TypeAlias = Callable[[str], ProgramSource]
FEW = 4
"""Processors, at most, that a test may crowd."""
needs_accounts = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists() or len(os.sched_getaffinity(0)) > FEW,
    reason=f"needs a system that tells how long a process waited for a processor, and at most {FEW} processors",
)


class Waiting:
    """A child that writes a frame late, and says how long it stood in line meanwhile."""

    def __init__(self, starved: list[float]) -> None:
        self.stdout, self._out = os.pipe()
        self.stderr, self._err = os.pipe()
        self.returncode: int | None = None
        self.cpu_s = 0.0
        self.lost = False
        self._starved = starved

    def starved_s(self) -> float:
        return self._starved.pop(0) if len(self._starved) > 1 else self._starved[0]

    def collect(self, wait: bool) -> bool:
        return False

    def signal(self, number: int) -> None: ...

    def kill(self) -> None: ...

    def close(self) -> None:
        for descriptor in (self.stdout, self._out, self.stderr, self._err):
            os.close(descriptor)


@contextmanager
def channel(starved: list[float]) -> Iterator[tuple[Channel, int]]:
    """Yields a channel and the descriptor on which its worker would answer."""
    request_read, request_write = os.pipe()
    reply_read, reply_write = os.pipe()
    made = Channel(Waiting(starved), request_write, reply_read, 1000)
    try:
        yield made, reply_write
    finally:
        made.destroy()
        os.close(request_read)
        os.close(reply_write)


def test_a_worker_that_had_its_processor_is_given_up_at_the_deadline() -> None:
    with channel([3.0]) as (made, _), pytest.raises(DeadlineError):
        made.receive(time.monotonic() + 0.3, 1000)
    assert made.excused_s == 0.0


def test_the_deadline_moves_by_the_time_without_a_processor_and_no_further() -> None:
    # 3.0 at first, 3.4 when the deadline comes, and nothing more when the moved one does.
    with channel([3.0, 3.4]) as (made, _), pytest.raises(DeadlineError):
        made.receive(time.monotonic() + 0.3, 1000)
    assert made.excused_s == pytest.approx(0.4)


def test_a_worker_without_a_processor_is_not_waited_for_forever() -> None:
    with channel([0.0, 1e9]) as (made, _), pytest.raises(DeadlineError):
        made.receive(time.monotonic() + 0.25, 1000)
    assert made.excused_s == pytest.approx(MOST_STARVED * 0.25, abs=0.01)


def test_time_that_was_excused_stays_so_when_the_worker_is_gone() -> None:
    # Nothing is told of a worker that has ended: 0.0.
    with channel([3.0, 3.2, 0.0]) as (made, _), pytest.raises(DeadlineError):
        made.receive(time.monotonic() + 0.3, 1000)
    assert made.excused_s == pytest.approx(0.2)


def test_an_answer_within_the_moved_deadline_is_taken() -> None:
    with channel([0.0, 60.0]) as (made, reply):
        late = f"import os, time; time.sleep(0.6); os.write({reply}, {HEADER.pack(2) + b'ok'!r})"
        with subprocess.Popen([sys.executable, "-c", late], pass_fds=[reply]):
            assert made.receive(time.monotonic() + 0.3, 1000) == b"ok"


@pytest.mark.slow
@pytest.mark.alone
@needs_accounts
def test_a_program_on_a_crowded_processor_is_not_said_to_be_slow(one_function: MakeProgram) -> None:
    started = time.process_time()
    for _ in range(5_000_000):
        pass
    steps = int(LIMIT_S / 2 * 5_000_000 / (time.process_time() - started))
    spinning = "while True: pass"
    # On every processor, since a worker may be started on any; in sessions of their own, so that each gets a share as
    # large as the worker's.
    crowd = RIVALS * len(os.sched_getaffinity(0))
    rivals = [subprocess.Popen([sys.executable, "-c", spinning], start_new_session=True) for _ in range(crowd)]
    try:
        with Sandbox(Limits(wall_s=20.0)).start(one_function(SPIN)) as worker:
            reply = worker.call("f", [steps], seed=0, timeout_s=LIMIT_S)
            excused_s = worker.excused_s
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
    assert reply.outcome is Outcome.OK
    assert excused_s > 0
