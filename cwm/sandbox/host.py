"""Starts workers and talks to them: a program that is not trusted runs in a child process that can be killed."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cwm.sandbox import isolation, payload
from cwm.sandbox.api import Failure, Level, Limits, Outcome, ProgramSource, Reply
from cwm.sandbox.channel import Channel, ClosedError, DeadlineError, OversizeError
from cwm.sandbox.failures import split_dump
from cwm.sandbox.isolation import SandboxUnavailableError
from cwm.sandbox.service import WHERE_SIGNAL
from games.api import Json

WORKER = Path(__file__).with_name("worker.py")
START_S = 30.0
"""A worker that is not ready by then never will be: the machine is at fault, not the program."""
DUMP_GRACE_S = 0.2
EXIT_GRACE_S = 1.0
ENVELOPE_BYTES = 128 * 1024
"""Room in a frame beside the value: output tail, failure, traceback."""
DEFAULT_LIMITS = Limits()
FROM_WORKER = frozenset(
    {
        Outcome.OK,
        Outcome.MODEL_ERROR,
        Outcome.BAD_VALUE,
        Outcome.REPLY_TOO_LARGE,
        Outcome.MEMORY_EXCEEDED,
        Outcome.INFRA_ERROR,
    }
)
"""What a worker may say of itself; all else is found out by the parent."""


class Worker:
    """One program in one child process. A context manager; not for several threads at once.

    Attributes:
        level: isolation level that holds.
        loaded: how loading the program went; if it is not ok, every call fails.
    """

    def __init__(self, channel: Channel, limits: Limits, level: Level) -> None:
        """Args:
        channel: pipes to a child that is ready.
        limits: caps.
        level: isolation level that holds.
        """
        self.level = level
        self.loaded = Reply(Outcome.INFRA_ERROR)
        self._channel = channel
        self._limits = limits
        self._alive = True

    @property
    def alive(self) -> bool:
        """False once the child was killed, died or was closed: start another worker then."""
        return self._alive

    def load(self, program: ProgramSource, *, seed: int = 0, timeout_s: float | None = None) -> Reply:
        """Loads a program in place of the one before and stores the reply in `loaded`."""
        self.loaded = self._request({"op": "load", "program": asdict(program), "seed": seed}, timeout_s)
        return self.loaded

    def call(self, function: str, args: list[Json], *, seed: int, timeout_s: float | None = None) -> Reply:
        """Calls one of the program's functions.

        Args:
            function: its name.
            args: JSON values.
            seed: for the module `random` in the worker.
            timeout_s: wall-clock seconds, None for the limit's default.
        """
        return self._request({"op": "call", "function": function, "args": args, "seed": seed}, timeout_s)

    def payload(
        self, module: str, function: str, argument: Json, *, seed: int, timeout_s: float | None = None
    ) -> Reply:
        """Calls `module.function(game, argument, rng)` of a trusted module, next to the program.

        Args:
            module: one of the modules that the sandbox's payload names.
            function: its function; returns JSON.
            argument: JSON.
            seed: for `rng` and for the module `random`.
            timeout_s: wall-clock seconds, None for the limit's default.
        """
        request = {"op": "payload", "module": module, "function": function, "argument": argument, "seed": seed}
        return self._request(request, timeout_s)

    def run_tests(
        self,
        tests: list[Json],
        *,
        seed: int,
        timeout_s: float | None = None,
        per_test_s: float = 10.0,
        on_result: Callable[[Json], None] | None = None,
    ) -> Reply:
        """Runs unit tests in a fresh namespace of the program.

        Args:
            tests: JSON form of unit tests.
            seed: each test is seeded from it and from the test's id.
            timeout_s: wall-clock seconds for all, None for no limit beyond `per_test_s` each.
            per_test_s: wall-clock seconds between two results.
            on_result: called with each result.

        Returns:
            A reply whose `value` is the list of results. If it is not ok, the results end before the test at fault.
        """
        started = time.monotonic()
        end = started + (timeout_s if timeout_s is not None else float("inf"))
        results: list[Json] = []
        request: dict[str, Any] = {"op": "tests", "tests": tests, "seed": seed}
        reply, more = self._exchange(request, min(end, started + self._limits.wall_s))
        while more:
            reply, more = self._next(request["id"], min(end, time.monotonic() + per_test_s))
            if more and (len(results) >= len(tests) or not _is_result(reply.value, tests[len(results)])):
                reply, more = self._break_off(), False
            elif more:
                results.append(reply.value)
                if on_result:
                    on_result(reply.value)
        if reply.outcome is Outcome.OK and len(results) < len(tests):
            reply = self._break_off()
        return Reply(reply.outcome, results, reply.failure, reply.output_tail, time.monotonic() - started)

    def close(self) -> None:
        """Kills the child with everything that it started; nothing is left of it."""
        if self._alive:
            self._alive = False
            self._channel.destroy()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _request(self, request: dict[str, Any], timeout_s: float | None) -> Reply:
        started = time.monotonic()
        reply, _ = self._exchange(request, started + (self._limits.wall_s if timeout_s is None else timeout_s))
        return Reply(reply.outcome, reply.value, reply.failure, reply.output_tail, time.monotonic() - started)

    def _exchange(self, request: dict[str, Any], deadline: float) -> tuple[Reply, bool]:
        # A number that the program cannot guess: a frame that it writes blindly is seen for what it is.
        request["id"] = secrets.token_hex(8)
        data = json.dumps(request, allow_nan=False, separators=(",", ":")).encode("ascii")
        if not self._alive:
            return Reply(Outcome.INFRA_ERROR, failure=Failure("WorkerClosed", "the worker was closed before")), False
        self._channel.forget_output()
        try:
            self._channel.send(data, deadline)
        except (DeadlineError, ClosedError) as error:
            return self._died(error), False
        return self._next(request["id"], deadline)

    def _next(self, identity: str, deadline: float) -> tuple[Reply, bool]:
        try:
            frame = self._channel.receive(deadline, self._limits.reply_bytes + ENVELOPE_BYTES)
        except (DeadlineError, ClosedError, OversizeError) as error:
            return self._died(error), False
        except BaseException:
            # An interrupt in mid-answer leaves the pipe out of step.
            self.close()
            raise
        parsed = _parse(frame, identity)
        if parsed is None:
            return self._break_off(), False
        reply, more = parsed
        if reply.outcome is Outcome.MEMORY_EXCEEDED:
            # What is still held, and by whom, cannot be known.
            self.close()
            reply = Reply(reply.outcome, failure=self._memory_failure(), output_tail=reply.output_tail)
        return reply, more

    def _died(self, error: Exception) -> Reply:
        """Says what became of a worker that gave no answer, and clears it away."""
        if isinstance(error, OversizeError):
            self.close()
            return Reply(Outcome.REPLY_TOO_LARGE, failure=Failure("ReplyTooLarge", str(error)))
        if isinstance(error, DeadlineError):
            printed = self._channel.output()
            self._channel.forget_output()
            self._channel.signal(WHERE_SIGNAL)
            _, where, line = split_dump(self._channel.output(DUMP_GRACE_S))
            self.close()
            failure = Failure("Timeout", "no answer in time; the worker was killed", line, where)
            return Reply(Outcome.WALL_TIMEOUT, failure=failure, output_tail=printed)
        status = self._channel.wait_for_end(EXIT_GRACE_S)
        printed, where, line = split_dump(self._channel.output())
        cpu_s = self._channel.cpu_s
        self.close()
        outcome, kind, message = _death(status, cpu_s, self._limits)
        return Reply(outcome, failure=Failure(kind, message, line, where), output_tail=printed)

    def _break_off(self) -> Reply:
        """Ends a worker that does not keep to the protocol."""
        self.close()
        failure = Failure("ProtocolError", "the reply is not what the protocol asks for: did the program write it?")
        return Reply(Outcome.PROTOCOL_ERROR, failure=failure)

    def _memory_failure(self) -> Failure:
        return Failure("MemoryError", f"the program needed more than {self._limits.memory_mb} MB of memory")


class Sandbox:
    """Starts workers of one kind."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS, level: Level = "process", payload: Sequence[str] = ()) -> None:
        """Args:
        limits: caps on each worker.
        level: isolation level; never lowered silently.
        payload: names of trusted modules that a worker loads before the program, in order.
        """
        self.limits = limits
        self.level = level
        self.payload = tuple(payload)

    def start(self, program: ProgramSource, seed: int = 0) -> Worker:
        """Starts a worker and loads a program.

        Args:
            program: what to run. If it fails to load, the worker's `loaded` says so.
            seed: for randomness while the program loads.

        Raises:
            SandboxUnavailableError: no worker can be started, or not at this level.
        """
        worker = self._start_empty(isolation.select(self.level))
        try:
            worker.load(program, seed=seed)
        except BaseException:
            worker.close()
            raise
        return worker

    def _start_empty(self, chosen: isolation.Isolation) -> Worker:
        settings: dict[str, Any] = {
            "isolation": isolation.settings(chosen, self.limits),
            "reply_bytes": self.limits.reply_bytes,
            "output_bytes": self.limits.output_bytes,
            "id": secrets.token_hex(8),
        }
        modules = payload.encoded(self.payload)
        channel = _spawn(chosen, self.limits)
        deadline = time.monotonic() + START_S
        try:
            channel.send(json.dumps({"modules": modules, "settings": settings}).encode("ascii"), deadline)
            parsed = _parse(channel.receive(deadline, ENVELOPE_BYTES), settings["id"])
        except (DeadlineError, ClosedError, OversizeError) as error:
            channel.wait_for_end(EXIT_GRACE_S)
            said = channel.output().strip().splitlines()[-3:]
            channel.destroy()
            raise SandboxUnavailableError(f"a worker did not start: {error}; it said: {' / '.join(said)}") from error
        except BaseException:
            channel.destroy()
            raise
        if parsed is None or parsed[0].value != {"level": self.level}:
            channel.destroy()
            raise SandboxUnavailableError(f"a worker did not confirm the isolation level {self.level!r}")
        return Worker(channel, self.limits, self.level)


def _spawn(chosen: isolation.Isolation, limits: Limits) -> Channel:
    request_read, request_write = os.pipe()
    reply_read, reply_write = os.pipe()
    arguments = [sys.executable, "-s", "-S", "-P", "-B", str(WORKER), str(request_read), str(reply_write)]
    try:
        process = subprocess.Popen(
            chosen.command(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PYTHONHASHSEED": "0", "PATH": os.environ.get("PATH", os.defpath)},
            cwd="/",
            pass_fds=(request_read, reply_write),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        os.close(request_write)
        os.close(reply_read)
        raise SandboxUnavailableError(f"no worker process can be started: {error}") from error
    finally:
        os.close(request_read)
        os.close(reply_write)
    return Channel(process, request_write, reply_read, limits.output_bytes)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse(frame: bytes, identity: str) -> tuple[Reply, bool] | None:
    """Returns (reply, whether more frames follow), or None if the frame breaks the protocol."""
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
        data = json.loads(frame, parse_constant=_refuse_constant)
        outcome = Outcome(data["outcome"])
        failure = None if data["failure"] is None else _parse_failure(data["failure"])
        if data["id"] == identity and outcome in FROM_WORKER and isinstance(data["output"], str):
            return Reply(outcome, data["value"], failure, data["output"]), data["more"] is True
    return None


def _is_result(value: Json, test: Json) -> bool:
    """Returns True if `value` has the form of a result of `test`."""
    return (
        isinstance(value, dict)
        and value.get("id") == test["id"]
        and value.get("kind") == test["kind"]
        and value.get("status") in ("pass", "fail", "error")
        and isinstance(value.get("fields"), dict)
        and set(value["fields"].values()) <= {"pass", "fail", "error"}
    )


def _parse_failure(data: dict[str, Any]) -> Failure:
    if not all(isinstance(data[key], str) for key in ("type", "message", "traceback")):
        raise TypeError("a failure's texts must be strings")
    line = data["line"]
    return Failure(data["type"], data["message"], line if isinstance(line, int) else None, data["traceback"])


def _death(status: int | None, cpu_s: float, limits: Limits) -> tuple[Outcome, str, str]:
    """Returns (outcome, failure type, message) of a worker that ended before it answered."""
    if status is None:
        return Outcome.PROTOCOL_ERROR, "ProtocolError", "the program closed the descriptor of the replies"
    if status >= 0:
        return Outcome.CRASHED, "Exit", f"the program ended its own process, with exit status {status}"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
    if -status == signal.SIGXCPU or (-status == signal.SIGKILL and cpu_s >= limits.cpu_s):
        return Outcome.CPU_EXCEEDED, "CpuExceeded", f"the program used more than {limits.cpu_s} s of CPU time"
    return Outcome.CRASHED, name, f"the program's process was ended by {name}"
