"""How strongly a worker is shut in: which level the parent may use, and the lock that the worker puts on itself.

The parent calls `select` and `Isolation.command`; the worker calls `lock` after the trusted modules are loaded and
before the program is compiled. Loaded into workers: standard library alone.
"""

import resource
from dataclasses import dataclass
from typing import Any

from cwm.sandbox.api import Level, Limits

AVAILABLE: tuple[Level, ...] = ("process",)
"""Levels that this version can give, the strongest first."""
PROMISES: dict[Level, str] = {
    "process": "contains crashes, endless loops and memory use; does not stop a hostile program",
}
CPU_GRACE_S = 2
MAX_DESCRIPTORS = 16


class SandboxUnavailableError(RuntimeError):
    """A program cannot be run as safely as was asked for, or no worker can be started at all."""


@dataclass(frozen=True)
class Isolation:
    """A level that was chosen, and how a worker of that level is started.

    Attributes:
        level: stored in every result.
        promise: what the level holds back, in words.
    """

    level: Level
    promise: str

    def command(self, worker: list[str]) -> list[str]:
        """Returns the command line that starts `worker` at this level."""
        return list(worker)


def select(level: Level) -> Isolation:
    """Returns the isolation asked for, never a weaker one.

    Raises:
        SandboxUnavailableError: this machine or this version does not have the level.
    """
    if level not in AVAILABLE:
        raise SandboxUnavailableError(
            f"the isolation level {level!r} is not available here; available: {', '.join(AVAILABLE)}. "
            "Ask for one of these, if what it promises is enough for programs that you did not write."
        )
    return Isolation(level, PROMISES[level])


def settings(isolation: Isolation, limits: Limits) -> dict[str, Any]:
    """Returns what the worker must know to lock itself, as JSON."""
    return {"level": isolation.level, "memory_mb": limits.memory_mb, "cpu_s": limits.cpu_s}


def lock(wanted: dict[str, Any]) -> Level:
    """Locks this process, for good, and returns the level that holds now.

    Args:
        wanted: what `settings` returned.

    Raises:
        SandboxUnavailableError: the level cannot be given; nothing must be run.
    """
    level: Level = wanted["level"]
    if level not in AVAILABLE:
        raise SandboxUnavailableError(f"the worker cannot give the isolation level {level!r}")
    memory = int(wanted["memory_mb"]) * 1024 * 1024
    cpu = int(wanted["cpu_s"])
    _cap(resource.RLIMIT_AS, memory, memory)
    _cap(resource.RLIMIT_CPU, cpu, cpu + CPU_GRACE_S)
    _cap(resource.RLIMIT_FSIZE, 0, 0)
    _cap(resource.RLIMIT_CORE, 0, 0)
    _cap(resource.RLIMIT_NOFILE, MAX_DESCRIPTORS, MAX_DESCRIPTORS)
    return level


def _cap(which: int, soft: int, hard: int) -> None:
    _, allowed = resource.getrlimit(which)
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    resource.setrlimit(which, (soft, hard))
