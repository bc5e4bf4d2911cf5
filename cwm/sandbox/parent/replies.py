"""Frames of a worker, checked: what may be believed of them, and what a death without a frame means."""

import contextlib
import json
import signal
from dataclasses import dataclass
from typing import Any

from cwm.sandbox.wire import arrays
from cwm.sandbox.wire.api import UNEXPLAINED, Failure, Limits, Outcome, Reply
from cwm.sandbox.wire.plain_json import normalise
from games.api import Json

FROM_WORKER = frozenset(
    {
        Outcome.OK,
        Outcome.MODEL_ERROR,
        Outcome.BAD_VALUE,
        Outcome.REPLY_TOO_LARGE,
        Outcome.MEMORY_EXCEEDED,
    }
)
"""What a worker may say of itself; all else is found out by the parent. None of them is ours."""
MAX_OUTPUT, MAX_MESSAGE, MAX_TRACEBACK, MAX_TYPE = 1 << 16, 4_000, 1 << 16, 200
"""Characters that are kept of what a worker says; an honest one says less."""
FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM", "SIGHUP"})
"""Signals by which others end processes: the kernel that is out of memory, an administrator."""


@dataclass(frozen=True)
class Frame:
    """What a worker said.

    Attributes:
        reply: as far as it can be believed.
        more: whether more frames follow.
        unexplained: it says that code of ours failed, which is not to be believed: `reply` is the program's error.
    """

    reply: Reply
    more: bool
    unexplained: bool


def parse(frame: bytes, identity: str, with_arrays: bool = False) -> Frame | None:
    """Returns what a frame says, None if it breaks the protocol.

    Args:
        frame: what came.
        identity: of the request.
        with_arrays: whether arrays were asked for; else bytes behind the JSON break the protocol.
    """
    # The program may have written it: nothing of its form is taken for granted.
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
        text, _, numbers = frame.partition(arrays.SEPARATOR) if with_arrays else (frame, b"", b"")
        data = normalise(json.loads(text, parse_constant=_refuse_constant))
        unexplained = data["outcome"] == UNEXPLAINED
        outcome = Outcome.MODEL_ERROR if unexplained else Outcome(data["outcome"])
        failure = None if data["failure"] is None else _parse_failure(data["failure"])
        if data["id"] == identity and outcome in FROM_WORKER and isinstance(data["output"], str):
            found = arrays.taken(data["arrays"], numbers) if with_arrays else {}
            reply = Reply(outcome, data["value"], failure, data["output"][-MAX_OUTPUT:], arrays=found)
            return Frame(reply, data["more"] is True, unexplained)
    return None


STATUSES = ("pass", "fail", "error")


def is_result(value: Json, test: Json) -> bool:
    """Returns True if `value` has the form of a result of `test`."""
    return (
        isinstance(value, dict)
        and value.get("id") == test["id"]
        and value.get("kind") == test["kind"]
        and value.get("status") in STATUSES
        and isinstance(value.get("fields"), dict)
        and all(status in STATUSES for status in value["fields"].values())
        and all(isinstance(value.get(name, ""), str) for name in ("field", "path", "message", "traceback"))
        # How a test ended the process is for the parent to say.
        and value.get("field", "") not in set(Outcome)
        and (value.get("line") is None or type(value["line"]) is int)
        and isinstance(value.get("output", []), list)
        and all(isinstance(line, str) for line in value.get("output", []))
    )


def death(status: int | None, cpu_s: float, limits: Limits) -> tuple[Outcome, str, str]:
    """Returns (outcome, failure type, message) of a worker that ended before it answered.

    Args:
        status: exit status, negative for a signal; None if it only closed its descriptor.
        cpu_s: CPU seconds it used.
        limits: its caps.
    """
    if status is None:
        return Outcome.PROTOCOL_ERROR, "ProtocolError", "the program closed the descriptor of the replies"
    if status >= 0:
        return Outcome.CRASHED, "Exit", f"the program ended its own process, with exit status {status}"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
    if -status == signal.SIGXCPU or (-status == signal.SIGKILL and cpu_s >= limits.cpu_s):
        return Outcome.CPU_EXCEEDED, "CpuExceeded", f"the program used more than {limits.cpu_s} s of CPU time"
    if -status == signal.SIGSYS:
        return Outcome.CRASHED, name, "the program made a system call for which the sandbox ends it at once (SIGSYS)"
    return Outcome.CRASHED, name, f"the program's process was ended by {name}"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse_failure(data: dict[str, Any]) -> Failure:
    if not all(isinstance(data[key], str) for key in ("type", "message", "traceback")):
        raise TypeError("a failure's texts must be strings")
    line = data["line"] if type(data["line"]) is int else None
    return Failure(data["type"][:MAX_TYPE], data["message"][:MAX_MESSAGE], line, data["traceback"][:MAX_TRACEBACK])
