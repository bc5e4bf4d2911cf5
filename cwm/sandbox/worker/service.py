"""What a worker does with its parent's requests. Loaded into workers: standard library alone.

Everything used after the program has run is taken beforehand, here and in the test runner: a program that
replaces `json.dumps` or `os.write` changes nothing but its own world.
"""

import faulthandler
import json
import os
import random
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from random import Random
from time import perf_counter
from typing import Any

from cwm.sandbox.inside.checked_game import CheckedGame
from cwm.sandbox.inside.joint_program import MissingFunctionError
from cwm.sandbox.inside.output import TailWriter
from cwm.sandbox.inside.program import LoadedCode, ProgramGame, sources_of
from cwm.sandbox.inside.runner import TestRunner
from cwm.sandbox.lock import lock
from cwm.sandbox.lock.seccomp import LockError
from cwm.sandbox.wire import arrays
from cwm.sandbox.wire.api import UNEXPLAINED, Outcome
from cwm.sandbox.wire.failures import describe, in_program
from cwm.sandbox.wire.plain_json import NotJsonError, normalise

STDOUT, STDERR = 1, 2
RESERVE_BYTES = 1 << 20
WHERE_SIGNAL = signal.SIGUSR1
"""The parent sends it before it kills, and gets the program's frames on stderr, even out of a loop in C."""


class WorkerService:
    """One program in one process, and the requests on it."""

    def __init__(self, reply_fd: int, settings: dict[str, Any]) -> None:
        """Args:
        reply_fd: private descriptor of the replies.
        settings: `reply_bytes`, `output_bytes`.
        """
        self._reply_fd = reply_fd
        self._reply_bytes: int = settings["reply_bytes"]
        self._write = os.write
        self._encode = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False).encode
        self._seed = random.seed
        self._output = TailWriter(settings["output_bytes"], STDOUT)
        # Zeroes that nobody has written take address space, which is what is capped, and no time.
        self._reserve: bytes | None = bytes(RESERVE_BYTES)
        self._sources: dict[str, list[str]] = {}
        self._code: LoadedCode | None = None
        self._game: ProgramGame | None = None
        self._arrays: dict[str, arrays.BinaryArray] = {}
        self._operations: dict[str, Callable[[dict[str, Any]], Any]] = {
            "load": self._load,
            "call": self._call,
            "tests": self._tests,
            "payload": self._payload,
        }

    def answer(self, request: dict[str, Any]) -> None:
        """Runs one request and sends its reply."""
        self._output.begin()
        sys.stdout = sys.stderr = self._output
        self._seed(request["seed"])
        self._arrays = {}
        try:
            outcome, value, failure = self._run(request)
        except MemoryError as error:
            self._reserve = None
            error.__traceback__ = None
            outcome, value, failure = Outcome.MEMORY_EXCEEDED, None, _failure("MemoryError", "out of memory")
        told = {"outcome": outcome, "value": value, "failure": failure}
        self.send(told, request["id"], False, self._arrays if outcome == Outcome.OK else {})

    def send(
        self,
        reply: dict[str, Any],
        identity: str,
        more: bool = False,
        numbers: Mapping[str, arrays.BinaryArray] | None = None,
    ) -> None:
        """Sends one frame, with arrays behind it if there are any; what is too large is replaced by that fact."""
        told = arrays.described(numbers or {})
        frame = reply | {"id": identity, "more": more, "output": self._output.tail(), "arrays": told}
        data = self._encode(frame).encode("ascii") + arrays.joined(numbers or {})
        if len(data) > self._reply_bytes:
            message = f"the answer has {len(data):,} bytes; at most {self._reply_bytes:,} are taken"
            frame |= {
                "outcome": Outcome.REPLY_TOO_LARGE.value,
                "value": None,
                "failure": _failure("ReplyTooLarge", message),
                "arrays": [],
            }
            data = self._encode(frame).encode("ascii")
        data = struct.pack(">I", len(data)) + data
        while data:
            data = data[self._write(self._reply_fd, data) :]

    def _run(self, request: dict[str, Any]) -> tuple[str, Any, Any]:
        try:
            return Outcome.OK, normalise(self._operations[request["op"]](request)), None
        except MemoryError:
            raise
        except NotJsonError as error:
            return Outcome.BAD_VALUE, None, _failure("NotJson", f"{_subject(request)}: {error}")
        except BaseException as error:
            # An exception in trusted code that never touched the program's own may be that code's fault.
            trusted = request["op"] in ("payload", "tests") and not isinstance(error, MissingFunctionError)
            if not trusted or in_program(error):
                return Outcome.MODEL_ERROR, None, describe(error, self._sources)
            violation = self._violation(request) if request["op"] == "payload" else None
            if violation is not None:
                return Outcome.MODEL_ERROR, None, describe(violation, self._sources)
            return UNEXPLAINED, None, describe(error, self._sources)

    def _load(self, request: dict[str, Any]) -> Any:
        self._sources = sources_of(request["program"])
        self._code = LoadedCode(request["program"])
        self._game = self._code.instantiate()
        return sorted(self._game.functions)

    def _call(self, request: dict[str, Any]) -> Any:
        function = self._loaded().functions.get(request["function"])
        if function is None:
            raise MissingFunctionError(f"the program does not define {request['function']}")
        return function(*request["args"])

    def _tests(self, request: dict[str, Any]) -> Any:
        if self._code is None:
            raise MissingFunctionError("no program is loaded")
        # A fresh namespace, so that results do not depend on what ran in this process before.
        self._game = self._code.instantiate()
        # The parent's clock for the first test begins here.
        self.send({"outcome": Outcome.OK.value, "value": None, "failure": None}, request["id"], more=True)
        runner = TestRunner(self._game, self._output, self._sources)
        for test in request["tests"]:
            self._output.begin()
            self._seed(f"{request['seed']}/{test['id']}")
            value = runner.run(test, request["seed"])
            self.send({"outcome": Outcome.OK.value, "value": value, "failure": None}, request["id"], more=True)
        return len(request["tests"])

    def _payload(self, request: dict[str, Any]) -> Any:
        answer = self._run_payload(request, self._loaded())
        if not request["arrays"]:
            return answer
        value, self._arrays = answer
        return value

    def _run_payload(self, request: dict[str, Any], game: ProgramGame | CheckedGame) -> Any:
        function = getattr(sys.modules[request["module"]], request["function"])
        rng = Random(f"payload/{request['seed']}")
        return function(game, request["argument"], rng)

    def _violation(self, request: dict[str, Any]) -> BaseException | None:
        """Does the work again with every answer of the program checked; returns what it did wrong, None if nothing."""
        self._seed(request["seed"])
        checked = CheckedGame(self._loaded())
        try:
            self._run_payload(request, checked)
        except MemoryError:
            raise
        except BaseException as error:
            return checked.violation or (error if in_program(error) else None)
        return checked.violation

    def _loaded(self) -> ProgramGame:
        if self._game is None:
            raise MissingFunctionError("no program is loaded")
        return self._game


def serve(receive: Callable[[], dict[str, Any]], reply_fd: int, settings: dict[str, Any]) -> None:
    """Locks the process, says that it is ready, and answers requests for ever.

    Args:
        receive: returns the next request; ends the process when the parent is gone.
        reply_fd: private descriptor of the replies.
        settings: limits and isolation, see `host.Sandbox`.
    """
    faulthandler.enable(STDERR)
    faulthandler.register(WHERE_SIGNAL, STDERR, all_threads=False)
    faulthandler.register(signal.SIGXCPU, STDERR, all_threads=False, chain=True)
    service = WorkerService(reply_fd, settings)
    began = perf_counter()
    try:
        locked = lock.lock(settings["isolation"])
    except LockError as error:
        os.write(STDERR, f"{error}\n".encode())
        os._exit(lock.EXIT_NOT_LOCKED)
    value = {**locked._asdict(), "lock_s": perf_counter() - began}
    service.send({"outcome": Outcome.OK.value, "value": value, "failure": None}, settings["id"])
    while True:
        service.answer(receive())


def _subject(request: dict[str, Any]) -> str:
    return str(request.get("function") or "the program")


def _failure(kind: str, message: str) -> dict[str, Any]:
    return {"type": kind, "message": message, "line": None, "traceback": ""}
