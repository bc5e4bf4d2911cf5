"""Starts workers and talks to them: a program that is not trusted runs in a child process that can be killed."""

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from types import TracebackType
from typing import Any, Self

from cwm.sandbox.parent import isolation, launch, levels, nurseries, reference
from cwm.sandbox.parent.channel import ClosedError, DeadlineError, OversizeError
from cwm.sandbox.parent.launch import ENVELOPE_BYTES, EXIT_GRACE_S, Started
from cwm.sandbox.parent.nurseries import NurseryError
from cwm.sandbox.parent.payload import Libraries
from cwm.sandbox.parent.replies import FROM_OUTSIDE, death, is_result, parse
from cwm.sandbox.wire.api import Failure, Level, Limits, Outcome, ProgramSource, Reply, SandboxUnavailableError
from cwm.sandbox.wire.failures import split_dump
from cwm.sandbox.worker.service import WHERE_SIGNAL
from games.api import Json

DUMP_GRACE_S = 0.2
DEFAULT_LIMITS = Limits()


class Worker:
    """One program in one child process. A context manager; not for several threads at once.

    Where the fault may not be the program's (code of ours failed beside it, or its process was killed from outside),
    the request is put once more to a fresh process. If that ends the same way it is the program's fault, unless code
    of ours fails beside a program that is known to be right, too. What the program's own process says of faults of
    ours is never believed.

    Attributes:
        level: isolation level that holds.
        landlock: Landlock ABI in force, 0 for none.
        lock_s: seconds that the worker took to lock itself.
        loaded: how loading the program went; if it is not ok, every call fails.
    """

    def __init__(self, started: Started, limits: Limits, start: Callable[[bytes], Started] | None = None) -> None:
        """Args:
        started: a process that is ready.
        limits: caps.
        start: starts another process of the kind, with its first request; None: nothing is asked a second time.
        """
        self.level: Level = started.level
        self.landlock = started.landlock
        self.lock_s = started.lock_s
        self.loaded = Reply(Outcome.INFRA_ERROR)
        self._channel = started.channel
        self._limits = limits
        self._alive = True
        self._start = start
        self._program: tuple[ProgramSource, int] | None = None
        self._ended: Reply | None = None
        # Whether the last answer may be through no fault of the program, and whether it says so itself.
        self._in_doubt = self._unexplained = False

    @property
    def alive(self) -> bool:
        """False once the child was killed, died or was closed: start another worker then."""
        return self._alive

    def load(self, program: ProgramSource, *, seed: int = 0, timeout_s: float | None = None) -> Reply:
        """Loads a program in place of the one before and stores the reply in `loaded`."""
        self._program = (program, seed)
        self.loaded = self._request(_loading(program, seed), timeout_s)
        return self.loaded

    def begin(self, program: ProgramSource, seed: int, identity: str) -> Reply:
        """Waits for a program that the process was given as its first request, and stores the reply in `loaded`."""
        self._program = (program, seed)
        self.loaded = self._request(_loading(program, seed) | {"sent": identity}, None)
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
        self,
        module: str,
        function: str,
        argument: Json,
        *,
        seed: int,
        timeout_s: float | None = None,
        arrays: bool = False,
    ) -> Reply:
        """Calls `module.function(game, argument, rng)` of a trusted module, next to the program.

        Args:
            module: one of the modules that the sandbox's payload names.
            function: its function; returns JSON, or with `arrays` a pair: JSON, and `BinaryArray` by name.
            argument: JSON.
            seed: for `rng` and for the module `random`.
            timeout_s: wall-clock seconds, None for the limit's default.
            arrays: whether arrays come with the JSON; the program may have written them, as it may have the JSON.
        """
        request = {"op": "payload", "module": module, "function": function, "argument": argument, "seed": seed}
        return self._request(request | {"arrays": arrays}, timeout_s)

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

        def take(result: Json) -> None:
            results.append(result)
            if on_result:
                on_result(result)

        reply = self._run_tests(tests, seed, end, per_test_s, take)
        before = -1
        while self._in_doubt and self._start is not None and before < len(results):
            before = len(results)
            reply = self._renewed() or self._run_tests(tests[before:], seed, end, per_test_s, take)
        if self._in_doubt:
            test = tests[len(results) :][:1]
            reply = self._judged(reply, lambda other: other._run_tests(test, seed, end, per_test_s, _ignore))
        return Reply(reply.outcome, results, reply.failure, reply.output_tail, time.monotonic() - started)

    @property
    def excused_s(self) -> float:
        """Seconds by which deadlines were moved so far, since the worker had no processor."""
        return self._channel.excused_s

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
        began = time.monotonic()
        seconds = self._limits.wall_s if timeout_s is None else timeout_s
        reply = self._attempt(request, seconds)
        if self._in_doubt and self._start is not None:
            # A fresh process begins with loading the program, and so does the one beside it.
            loads = request["op"] == "load"
            reply = self._renewed() or (self.loaded if loads else self._attempt(request, seconds))
            if self._in_doubt:
                reply = self._judged(reply, lambda other: other.loaded if loads else other._attempt(request, seconds))
        return replace(reply, wall_s=time.monotonic() - began)

    def _attempt(self, request: dict[str, Any], seconds: float) -> Reply:
        return self._exchange(request, time.monotonic() + seconds)[0]

    def _run_tests(
        self, tests: list[Json], seed: int, end: float, per_test_s: float, take: Callable[[Json], None]
    ) -> Reply:
        """Puts tests to the process as it is; `take` is given each result."""
        request: dict[str, Any] = {"op": "tests", "tests": tests, "seed": seed}
        taken = 0
        reply, more = self._exchange(request, min(end, time.monotonic() + self._limits.wall_s))
        while more:
            reply, more = self._next(request["id"], min(end + self.excused_s, time.monotonic() + per_test_s))
            if more and (taken >= len(tests) or not is_result(reply.value, tests[taken])):
                return self._break_off()
            if more:
                taken += 1
                take(reply.value)
        return self._break_off() if reply.outcome is Outcome.OK and taken < len(tests) else reply

    def _renewed(self) -> Reply | None:
        """Puts the program into a fresh process; returns what it is if that fails, None if it is ready for requests."""
        assert self._start is not None
        assert self._program is not None
        self.close()
        self._in_doubt = self._unexplained = False
        request = _identified(_loading(*self._program))
        try:
            started = self._start(_encoded(request))
        except SandboxUnavailableError as error:
            self._ended = Reply(Outcome.SANDBOX_UNAVAILABLE, failure=Failure("SandboxUnavailable", str(error)))
            return self._ended
        self._channel, self._alive, self._ended = started.channel, True, None
        self.loaded, _ = self._next(request["id"], time.monotonic() + self._limits.wall_s)
        return None if self.loaded.outcome is Outcome.OK else self.loaded

    def _judged(self, reply: Reply, ask: Callable[["Worker"], Reply]) -> Reply:
        """Says whose fault it is that a request ended twice in the same way: the program's, unless ours is proven."""
        if not self._unexplained or self._start is None or self._program is None:
            return reply
        program, seed = self._program
        request = _identified(_loading(reference.beside(program), seed))
        try:
            with Worker(self._start(_encoded(request)), self._limits) as other:
                ours = other.begin(reference.beside(program), seed, request["id"]).outcome is not Outcome.OK
                if not ours:
                    ask(other)
                    ours = other._unexplained
        except SandboxUnavailableError:
            ours = True
        outcome = Outcome.INFRA_ERROR if ours else Outcome.MODEL_ERROR
        return replace(reply, outcome=outcome, failure=_blamed(reply.failure, ours))

    def _exchange(self, request: dict[str, Any], deadline: float) -> tuple[Reply, bool]:
        self._in_doubt = self._unexplained = False
        if sent := request.pop("sent", None):
            return self._next(sent, deadline)
        data = _encoded(_identified(request))
        if not self._alive:
            # What ended it is what is wrong with every later request, whoever's fault that was.
            closed = Reply(Outcome.INFRA_ERROR, failure=Failure("WorkerClosed", "the worker was closed before"))
            return self._ended or closed, False
        self._channel.forget_output()
        try:
            self._channel.send(data, deadline)
        except (DeadlineError, ClosedError) as error:
            return self._died(error), False
        return self._next(request["id"], deadline, request.get("arrays", False))

    def _next(self, identity: str, deadline: float, with_arrays: bool = False) -> tuple[Reply, bool]:
        try:
            frame = self._channel.receive(deadline, self._limits.reply_bytes + ENVELOPE_BYTES)
        except (DeadlineError, ClosedError, OversizeError) as error:
            return self._died(error), False
        except BaseException:
            # An interrupt in mid-answer leaves the pipe out of step.
            self.close()
            raise
        parsed = parse(frame, identity, with_arrays)
        if parsed is None:
            return self._break_off(), False
        reply, more = parsed.reply, parsed.more
        self._in_doubt = self._unexplained = parsed.unexplained
        if reply.outcome is Outcome.MEMORY_EXCEEDED:
            # What is still held, and by whom, cannot be known.
            self.close()
            reply = Reply(reply.outcome, failure=self._memory_failure(), output_tail=reply.output_tail)
            self._ended = reply
        return reply, more and not parsed.unexplained

    def _died(self, error: Exception) -> Reply:
        """Says what became of a worker that gave no answer, and clears it away."""
        self._ended = self._cause_of_death(error)
        return self._ended

    def _cause_of_death(self, error: Exception) -> Reply:
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
        cpu_s, lost = self._channel.cpu_s, self._channel.lost
        self.close()
        if lost:
            failure = Failure("WorkerLost", "the process from which workers are forked ended, and the worker with it")
            return Reply(Outcome.INFRA_ERROR, failure=failure)
        outcome, kind, message = death(status, cpu_s, self._limits)
        self._in_doubt = outcome is Outcome.CRASHED and kind in FROM_OUTSIDE
        return Reply(outcome, failure=Failure(kind, message, line, where), output_tail=printed)

    def _break_off(self) -> Reply:
        """Ends a worker that does not keep to the protocol."""
        self.close()
        self._in_doubt = self._unexplained = False
        failure = Failure("ProtocolError", "the reply is not what the protocol asks for: did the program write it?")
        self._ended = Reply(Outcome.PROTOCOL_ERROR, failure=failure)
        return self._ended

    def _memory_failure(self) -> Failure:
        return Failure("MemoryError", f"the program needed more than {self._limits.memory_mb} MB of memory")


def _identified(request: dict[str, Any]) -> dict[str, Any]:
    # A number that the program cannot guess: a frame that it writes blindly is seen for what it is.
    request["id"] = secrets.token_hex(8)
    return request


def _encoded(request: dict[str, Any]) -> bytes:
    return json.dumps(request, allow_nan=False, separators=(",", ":")).encode("ascii")


def _loading(program: ProgramSource, seed: int) -> dict[str, Any]:
    return {"op": "load", "program": asdict(program), "seed": seed}


def _ignore(result: Json) -> None:
    """Takes a result that nobody wants."""


def _blamed(failure: Failure | None, ours: bool) -> Failure:
    kind, message = ("Error", "") if failure is None else (failure.type, failure.message)
    if ours:
        return Failure(kind, f"{message}: it happens beside a program that is known to be right, too")
    why = "twice beside this program, and not beside one that is known to be right: an answer of the program's is wrong"
    return Failure(kind, f"{message}: it happened {why}")


class Sandbox:
    """Starts workers of one kind.

    Attributes:
        limits, level, payload, libraries: as given.
    """

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        level: Level | None = None,
        payload: Sequence[str] = (),
        *,
        nursery: bool = True,
        landlock: bool = True,
        hash_seed: int = 0,
        libraries: Libraries | None = None,
    ) -> None:
        """Args:
        limits: caps on each worker.
        level: isolation level, never lowered silently; None for the best that this machine has.
        payload: names of trusted modules that a worker loads before the program, in order.
        nursery: fork workers from a clean process where that is possible; it is quicker, and else the same.
        landlock: use Landlock where the kernel has it; False only to test that the rest holds without it.
        hash_seed: PYTHONHASHSEED of the workers; another than 0 only to find programs whose answers depend on it.
        libraries: packages beyond the standard library that a worker imports before it locks itself.
        """
        self.limits = limits
        self.level: Level = levels.default() if level is None else level
        self.payload = tuple(payload)
        self.libraries = libraries
        # Threads that packages start are not forked with a nursery.
        self._nursery = nursery and libraries is None
        self._landlock = landlock
        self._hash_seed = hash_seed

    def start(self, program: ProgramSource, seed: int = 0) -> Worker:
        """Starts a worker and loads a program.

        Args:
            program: what to run. If it fails to load, the worker's `loaded` says so.
            seed: for randomness while the program loads.

        Raises:
            SandboxUnavailableError: no worker can be started, or not at this level.
        """
        chosen = replace(isolation.select(self.level, self._landlock), hash_seed=self._hash_seed)
        request = _identified(_loading(program, seed))
        started = self._launch(chosen, _encoded(request))
        worker = Worker(started, self.limits, lambda first: self._launch(chosen, first))
        try:
            worker.begin(program, seed, request["id"])
        except BaseException:
            worker.close()
            raise
        return worker

    def _launch(self, chosen: isolation.Isolation, first: bytes) -> Started:
        if self._nursery and nurseries.supported(chosen):
            # Whatever keeps a nursery from working, a worker that is started by itself may do without.
            with contextlib.suppress(NurseryError):
                return nurseries.fork(chosen, self.limits, self.payload, first)
        return launch.cold(chosen, self.limits, self.payload, first, self.libraries)
