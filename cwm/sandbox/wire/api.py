"""Outcomes, limits and programs of the sandbox: the closed set of what can happen to code that is not trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from cwm.sandbox.wire.arrays import BinaryArray

Level: TypeAlias = Literal["strong+", "strong", "seatbelt", "external", "process"]

UNEXPLAINED = "unexplained"
"""What a worker says of an exception in code of ours. It is no outcome: the parent finds out whose fault it is."""


class SandboxUnavailableError(RuntimeError):
    """A program cannot be run as safely as was asked for, or no worker can be started at all."""


class Outcome(StrEnum):
    """What became of one request to a worker.

    The last two are ours and are never scored against a program; the parent alone can come to them, from what it sees
    itself. Nothing that a worker says once a program is loaded can be one of them.
    """

    OK = "ok"
    REFUSED_STATIC = "refused_static"
    MODEL_ERROR = "model_error"
    BAD_VALUE = "bad_value"
    REPLY_TOO_LARGE = "reply_too_large"
    PROTOCOL_ERROR = "protocol_error"
    CPU_EXCEEDED = "cpu_exceeded"
    WALL_TIMEOUT = "wall_timeout"
    MEMORY_EXCEEDED = "memory_exceeded"
    CRASHED = "crashed"
    SANDBOX_UNAVAILABLE = "sandbox_unavailable"
    INFRA_ERROR = "infra_error"

    @property
    def is_ours(self) -> bool:
        return self in (Outcome.SANDBOX_UNAVAILABLE, Outcome.INFRA_ERROR)


@dataclass(frozen=True)
class Limits:
    """Caps on one worker.

    Attributes:
        memory_mb: address space, MiB.
        cpu_s: CPU seconds over the worker's life.
        wall_s: default wall-clock seconds a request.
        reply_bytes: largest reply.
        output_bytes: how much of stdout and stderr is kept (the last).
    """

    memory_mb: int = 512
    cpu_s: int = 3600
    wall_s: float = 60.0
    reply_bytes: int = 16 * 1024 * 1024
    output_bytes: int = 10 * 1024


@dataclass(frozen=True)
class Failure:
    """Why a request did not succeed, in words for the refinement prompt and the user.

    Attributes:
        type: exception class name or limit, e.g. `KeyError`.
        message: one line.
        line: line of the program, None if unknown.
        traceback: the frames inside the program, as text; "" if none.
    """

    type: str
    message: str
    line: int | None = None
    traceback: str = ""


@dataclass(frozen=True)
class Reply:
    """A worker's answer to one request.

    Attributes:
        outcome: what became of it.
        value: JSON.
        failure: why it did not succeed.
        output_tail: the last that was printed.
        wall_s: seconds it took.
        arrays: by name, where arrays were asked for: as long as they say, their numbers unchecked.
    """

    outcome: Outcome
    value: Any = None
    failure: Failure | None = None
    output_tail: str = ""
    wall_s: float = 0.0
    arrays: Mapping[str, BinaryArray] = field(default_factory=dict)


@dataclass(frozen=True)
class ProgramSource:
    """What a worker is given to run.

    Attributes:
        source: the model: transition functions and, where asked for, inference.
        initial_state: bound to INITIAL_STATE before `source` runs.
        info: `GameInfo` as a dict (see `dataclasses.asdict`). That of a program with a joint step holds `joint` beside,
            `PosgInfo` as a dict: it defines the functions of `cwm.interface.joint`, and has no INITIAL_STATE.
        value_source: optional; runs in a namespace of its own that begins as a copy of the model's, so that it can use
            the model's functions but not replace them.
        prior_source: optional; a policy prior, in another namespace of its own, likewise.
        inference_source: optional, beside a program with a joint step; its inference, likewise.
    """

    source: str
    initial_state: Any
    info: dict[str, Any]
    value_source: str | None = None
    prior_source: str | None = None
    inference_source: str | None = None

    @property
    def joint(self) -> bool:
        """Whether the program has a joint step."""
        return "joint" in self.info
