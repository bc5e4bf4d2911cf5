"""Frames of a worker, checked: what may be believed of them, and what a death without a frame means."""

import contextlib
import json
import signal
from typing import Any

from cwm.sandbox.api import Failure, Limits, Outcome, Reply
from games.api import Json

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


def parse(frame: bytes, identity: str) -> tuple[Reply, bool] | None:
    """Returns (reply, whether more frames follow), or None if the frame breaks the protocol."""
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
        data = json.loads(frame, parse_constant=_refuse_constant)
        outcome = Outcome(data["outcome"])
        failure = None if data["failure"] is None else _parse_failure(data["failure"])
        if data["id"] == identity and outcome in FROM_WORKER and isinstance(data["output"], str):
            return Reply(outcome, data["value"], failure, data["output"]), data["more"] is True
    return None


def is_result(value: Json, test: Json) -> bool:
    """Returns True if `value` has the form of a result of `test`."""
    return (
        isinstance(value, dict)
        and value.get("id") == test["id"]
        and value.get("kind") == test["kind"]
        and value.get("status") in ("pass", "fail", "error")
        and isinstance(value.get("fields"), dict)
        and set(value["fields"].values()) <= {"pass", "fail", "error"}
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
    line = data["line"]
    return Failure(data["type"], data["message"], line if isinstance(line, int) else None, data["traceback"])
