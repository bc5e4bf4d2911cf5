"""Which isolation levels this machine has: tried with a throw-away worker, remembered while this process lives."""

import functools
import os
from dataclasses import dataclass

from cwm.sandbox import isolation, launch
from cwm.sandbox.api import Level, Limits, SandboxUnavailableError

STRONG: tuple[Level, ...] = ("strong+", "strong")
"""Levels that hold against hostile programs, the best first."""
WEAK: tuple[Level, ...] = ("external", "process")
"""Levels that hold only accidents; taken only where a user asks for them."""
ALLOW_PROCESS = "CWM_ALLOW_UNSAFE_PROCESS"
"""Set to 1: where no strong level is to be had, programs run at level process."""


@dataclass(frozen=True)
class Probe:
    """What became of the trial of one level.

    Attributes:
        level: that was tried.
        problem: why it is not to be had, None if it is.
        landlock: Landlock ABI in force, 0 for none.
    """

    level: Level
    problem: str | None
    landlock: int = 0


@functools.cache
def probe(level: Level) -> Probe:
    """Starts a worker at a level, which tries its own lock, and ends it."""
    reason = isolation.missing(level)
    if reason is not None:
        return Probe(level, reason)
    try:
        started = launch.cold(isolation.select(level), Limits(), ())
    except SandboxUnavailableError as error:
        return Probe(level, str(error))
    started.channel.destroy()
    return Probe(level, None, started.landlock)


def best() -> Level | None:
    """Returns the best level that holds against hostile programs, None if there is none."""
    return next((level for level in STRONG if probe(level).problem is None), None)


def default() -> Level:
    """Returns the level of programs for which nobody asked for another.

    Where no strong level is to be had it is `process` if the environment allows that, else `strong`, at which no
    worker will start: it is never lowered silently.
    """
    found = best()
    if found is not None:
        return found
    return "process" if process_allowed() else "strong"


def process_allowed() -> bool:
    """Returns whether the user allows programs to run without protection where there is none."""
    return os.environ.get(ALLOW_PROCESS) == "1"


def ensure(level: Level) -> None:
    """Checks that programs can be run at a level, before anything is paid for.

    Raises:
        SandboxUnavailableError: they cannot; the message says why, and what to do.
    """
    found = probe(level)
    if found.problem is None:
        return
    if level in STRONG and best() is None:
        raise SandboxUnavailableError(
            f"No sandbox that holds against hostile programs is to be had here ({found.problem.rstrip('.')}), so "
            "programs that do not ship with the project are not run; `cwm doctor` says how to get one, and "
            "--allow-unsafe-process runs them without."
        )
    raise SandboxUnavailableError(
        f"The isolation level {level!r} is not to be had here: {found.problem.rstrip('.')}; `cwm doctor` shows "
        "which levels are."
    )
