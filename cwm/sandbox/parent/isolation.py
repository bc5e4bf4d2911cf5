"""How strongly a worker is shut in: what each level promises, and how a worker of that level is started.

The lock that a worker puts on itself is in `cwm.sandbox.lock.lock`; which level this machine has is found by
`cwm.sandbox.parent.levels`.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwm.sandbox.lock.syscalls import current
from cwm.sandbox.wire.api import Level, Limits, SandboxUnavailableError

PROMISES: dict[Level, str] = {
    "strong+": "all of strong, inside file, network and process namespaces that hold nothing else",
    "strong": "no file, socket, process, thread or program, no signal or trace to others; memory and time capped",
    "seatbelt": "macOS sandbox-exec; not in this version",
    "external": "contains crashes, endless loops and memory use; the container around it is the user's word",
    "process": "contains crashes, endless loops and memory use; does not stop a hostile program",
}
WORKER = Path(__file__).parents[1] / "worker" / "worker.py"
BUBBLEWRAP = "bwrap"
NOBODY = "65534"


@dataclass(frozen=True)
class Isolation:
    """A level that was chosen, and how a worker of that level is started.

    Attributes:
        level: stored in every result.
        landlock: whether Landlock is used where the kernel has it; False only to test that seccomp alone holds.
        hash_seed: PYTHONHASHSEED of the worker; another than 0 only to find programs whose answers depend on it.
        shown: folders that a launcher shows the worker, read-only, beside those of Python itself.
    """

    level: Level
    landlock: bool = True
    hash_seed: int = 0
    shown: tuple[str, ...] = ()

    @property
    def wraps(self) -> bool:
        """Whether the worker is started through a launcher."""
        return self.level == "strong+"

    def command(self, worker: list[str], info_fd: int | None = None) -> list[str]:
        """Returns the command line that starts `worker` at this level.

        Args:
            worker: command line of the worker itself.
            info_fd: where a launcher tells the worker's process id.
        """
        if not self.wraps:
            return list(worker)
        told = [] if info_fd is None else ["--info-fd", str(info_fd)]
        return [*_wrapping(self.shown), *told, "--", *worker]

    def settings(self, limits: Limits) -> dict[str, Any]:
        """Returns what the worker must know to lock itself, as JSON."""
        return {
            "level": self.level,
            "memory_mb": limits.memory_mb,
            "cpu_s": limits.cpu_s,
            "landlock": self.landlock,
            "parent": None if self.wraps else os.getpid(),
        }


def select(level: Level, landlock: bool = True) -> Isolation:
    """Returns the isolation asked for, never a weaker one; whether it holds is seen when a worker starts.

    Raises:
        SandboxUnavailableError: this machine or this version cannot have the level.
    """
    reason = missing(level)
    if reason is not None:
        raise SandboxUnavailableError(
            f"The isolation level {level!r} is not to be had here: {reason}. `cwm doctor` shows which levels are."
        )
    return Isolation(level, landlock)


def missing(level: Level) -> str | None:
    """Returns why a level cannot be had, without trying it; None if nothing speaks against it."""
    if level == "seatbelt":
        return "this version does not have it"
    if level in ("strong", "strong+") and current() is None:
        return "it needs Linux on x86-64 or aarch64"
    if level == "strong+" and shutil.which(BUBBLEWRAP) is None:
        return f"it needs bubblewrap (the program {BUBBLEWRAP})"
    return None


def interpreter() -> str:
    """Returns the interpreter itself, without the virtual environment around it: a worker uses none of that."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _wrapping(further: Sequence[str] = ()) -> list[str]:
    """Returns the launcher with what Python needs to start, read-only, and nothing else."""
    launcher = shutil.which(BUBBLEWRAP) or BUBBLEWRAP
    command = [launcher, "--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]
    command += ["--uid", NOBODY, "--gid", NOBODY, "--chdir", "/"]
    for place in sorted({*_shown(), *further}):
        command += ["--ro-bind", place, place]
    for link in ("/lib", "/lib64", "/bin"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
    return command


def _shown() -> list[str]:
    """Returns the folders and files that Python itself is read from, each with links resolved."""
    paths = {interpreter(), str(WORKER), *_library()}
    paths |= {link for link in ("/lib", "/lib64") if os.path.isdir(link) and not os.path.islink(link)}
    paths |= {place for place in ("/usr/lib", "/usr/lib64", "/usr/lib32") if os.path.isdir(place)}
    return sorted(paths)


def _library() -> set[str]:
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), sysconfig.get_config_var("LIBDIR")}
    return {str(folder) for folder in folders if folder and os.path.isdir(folder)}
