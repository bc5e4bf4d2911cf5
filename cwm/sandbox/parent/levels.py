"""Which isolation levels this machine has: tried with a throw-away worker, remembered while this process lives."""

import contextlib
import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from cwm.sandbox.parent import isolation, launch
from cwm.sandbox.wire.api import Level, Limits, SandboxUnavailableError

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


@dataclass(frozen=True)
class Wish:
    """What the user says about isolation.

    Attributes:
        level: asked for by name, None for the best that there is.
        allow_process: whether programs may run without protection where there is none.
    """

    level: Level | None = None
    allow_process: bool = False


_wish = Wish()


@contextlib.contextmanager
def wishing(wish: Wish) -> Iterator[None]:
    """Has `default` and `process_allowed` follow the user's wish, until the end of the block.

    Raises:
        SandboxUnavailableError: level process is asked for, and not allowed.
    """
    global _wish
    before, _wish = _wish, wish
    try:
        if wish.level is not None:
            permit(wish.level)
        yield
    finally:
        _wish = before


def permit(level: Level) -> None:
    """Checks that the user may have asked for a level by name.

    Raises:
        SandboxUnavailableError: it is `process`, and nobody said that this is meant.
    """
    if level == "process" and not process_allowed():
        raise SandboxUnavailableError(
            "The isolation level 'process' does not stop a hostile program; add the option `allow_unsafe_process` "
            "if it is meant."
        )


def named(text: str) -> Level:
    """Returns a level by name.

    Raises:
        ValueError: no level has this name.
    """
    found: Level | None = next((level for level in get_args(Level) if level == text), None)
    if found is None:
        raise ValueError(f"{text!r} is no isolation level; there are {', '.join(get_args(Level))}")
    return found


def default() -> Level:
    """Returns the level of programs for which nobody asked for another.

    Where no strong level is to be had it is `process` if the user allows that, else `strong`, at which no worker will
    start: it is never lowered silently.
    """
    if _wish.level is not None:
        return _wish.level
    found = best()
    if found is not None:
        return found
    return "process" if process_allowed() else "strong"


def process_allowed() -> bool:
    """Returns whether the user allows programs to run without protection where there is none."""
    return _wish.allow_process or os.environ.get(ALLOW_PROCESS) == "1"


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
            "the option `allow_unsafe_process` runs them without."
        )
    raise SandboxUnavailableError(
        f"The isolation level {level!r} is not to be had here: {found.problem.rstrip('.')}; `cwm doctor` shows "
        "which levels are."
    )
