"""A dozen and more live attacks on the sandbox, each a small program, and whether the sandbox held.

They show a user what holds on his machine. What each level is tested against in depth is in `tests/hostile/`.
"""

import contextlib
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwm.sandbox.lock.syscalls import current
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.parent.payload import Libraries
from cwm.sandbox.wire.api import Level, Limits, Outcome, ProgramSource, Reply
from cwm.sandbox.wire.blame import Ours, blame

BREACH = "breach"
TIME_S = 0.5
INFO: dict[str, Any] = {
    "id": "attack",
    "num_players": 1,
    "utility": "general_sum",
    "min_utility": 0.0,
    "max_utility": 1.0,
    "perfect_information": True,
    "has_chance": False,
    "player_names": ["attacker"],
}
HEADER = "import ctypes, os, sys, time\nlibc = ctypes.CDLL(None)\n"
LIMITS = Limits(memory_mb=256, wall_s=10.0)
TOOLS = "cwm.sandbox.parent.attack_tools"


@dataclass(frozen=True)
class Attack:
    """One attempt.

    Attributes:
        name: short, for tests and JSON.
        promise: what holds if it fails, in words.
        body: of a function of `x`, the targets; it returns `breach` if it succeeds.
        weak: whether also the levels that hold accidents alone promise it.
    """

    name: str
    promise: str
    body: str
    weak: bool = False


ATTACKS = (
    Attack("read_file", "no file can be read", "return x['breach'] if open(x['secret']).read() else ''"),
    Attack("list_folder", "no folder can be listed", "os.listdir('/')\nreturn x['breach']"),
    Attack("write_file", "no file can be made", "open(x['folder'] + '/made', 'w')\nreturn x['breach']"),
    Attack(
        "own_environment",
        "no key of yours is in the environment",
        "return x['breach'] if x['canary'] in os.environ else ''",
        weak=True,
    ),
    Attack(
        "parent_environment",
        "the parent's environment cannot be read",
        "return x['breach'] if open(f\"/proc/{x['parent']}/environ\", 'rb').read() else ''",
    ),
    Attack(
        "parent_memory",
        "the parent's memory cannot be read",
        "open(f\"/proc/{x['parent']}/mem\", 'rb').close()\nreturn x['breach']",
    ),
    Attack(
        "tcp",
        "no connection can be opened",
        "import socket\nsocket.create_connection(('127.0.0.1', x['port']), 1).close()\nreturn x['breach']",
    ),
    Attack(
        "socket",
        "no socket can be made by a raw system call",
        "return x['breach'] if libc.syscall(x['calls']['socket'], 1, 1, 0) >= 0 else ''",
    ),
    Attack("program", "no program can be started", "return x['breach'] if os.system('true') == 0 else ''"),
    Attack("fork", "no process can be forked", "if os.fork() == 0: os._exit(0)\nreturn x['breach']"),
    Attack(
        "thread",
        "no thread can be started",
        "import _thread\n_thread.start_new_thread(time.sleep, (0.01,))\nreturn x['breach']",
    ),
    Attack("signal", "the parent cannot be signalled", "os.kill(x['parent'], 0)\nreturn x['breach']"),
    Attack(
        "limits",
        "limits of the parent can be neither read nor set",
        "import resource\nresource.prlimit(x['parent'], resource.RLIMIT_NOFILE)\nreturn x['breach']",
    ),
    Attack(
        "trace",
        "the parent cannot be traced",
        "return x['breach'] if libc.syscall(x['calls']['ptrace'], 0x4206, x['parent'], 0, 0) == 0 else ''",
    ),
    Attack(
        "own_signal",
        "no signal can be sent by way of a descriptor's owner",
        "return x['breach'] if libc.syscall(x['calls']['fcntl'], 3, 8, x['parent']) == 0 else ''",
    ),
    Attack(
        "machine_code",
        "no memory can be made executable",
        "made = libc.syscall(x['calls']['mmap'], None, 4096, 7, 0x22, -1, 0)\nreturn x['breach'] if made != -1 else ''",
    ),
    Attack(
        "io_uring",
        "no work can be handed to the kernel past the filter",
        "made = libc.syscall(x['calls']['io_uring_setup'], 1, ctypes.create_string_buffer(256))\n"
        "return x['breach'] if made >= 0 else ''",
    ),
    Attack(
        "memory",
        "memory is capped",
        "kept = bytearray(1 << 30)\nfor at in range(0, len(kept), 4096): kept[at] = 1\nreturn x['breach']",
        weak=True,
    ),
    Attack(
        "time",
        "an endless loop ends at the deadline",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        weak=True,
    ),
    Attack("flood", "a flood of output is cut", "for _ in range(64): os.write(1, b'y' * 65536)\nreturn ''", weak=True),
)


@dataclass(frozen=True)
class Finding:
    """What became of one attack.

    Attributes:
        attack: that was tried.
        held: whether the sandbox held.
        detail: what the program met.
    """

    attack: Attack
    held: bool
    detail: str


def attempt(
    level: Level,
    *,
    nursery: bool = False,
    landlock: bool = True,
    limits: Limits = LIMITS,
    modules: Sequence[str] = (),
    libraries: Libraries | None = None,
) -> Iterator[Finding]:
    """Tries every attack in a throw-away worker of its own and yields the findings.

    Args:
        level: isolation level.
        nursery: fork the workers from a clean process.
        landlock: use Landlock where the kernel has it.
        limits: caps on each worker; the attack on memory takes 1 GiB.
        modules: trusted modules that the workers load, too.
        libraries: packages that they import, None for none.

    Raises:
        SandboxUnavailableError: no worker starts at the level.
    """
    sandbox = Sandbox(limits, level, (TOOLS, *modules), nursery=nursery, landlock=landlock, libraries=libraries)
    with _targets() as targets:
        for attack in ATTACKS:
            lines = "\n".join(f"    {line}" for line in attack.body.splitlines())
            program = ProgramSource(f"{HEADER}def attack(x):\n{lines}\n", {}, INFO)
            with sandbox.start(program) as worker:
                reply = worker.loaded
                if reply.outcome is Outcome.OK:
                    reply = worker.call("attack", [targets], seed=0, timeout_s=TIME_S)
            yield Finding(attack, _held(attack, reply), _detail(reply))


@contextlib.contextmanager
def _targets() -> Iterator[dict[str, Any]]:
    """Sets up what the attacks are after: a secret file, a key in the environment, a listener, this process."""
    canary = f"CWM_CANARY_{secrets.token_hex(8)}"
    architecture = current()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        secret = Path(folder) / "secret"
        secret.write_text(canary, encoding="ascii")
        os.environ[canary] = canary
        try:
            yield {
                "breach": BREACH,
                "secret": str(secret),
                "folder": folder,
                "canary": canary,
                "parent": os.getpid(),
                "port": listener.getsockname()[1],
                "calls": {} if architecture is None else architecture.numbers,
            }
        finally:
            del os.environ[canary]


def _held(attack: Attack, reply: Reply) -> bool:
    if isinstance(blame(reply), Ours) or (attack.name == "time" and reply.outcome is not Outcome.WALL_TIMEOUT):
        return False
    return bool(reply.value != BREACH)


def _detail(reply: Reply) -> str:
    if reply.value == BREACH:
        return "succeeded"
    if reply.failure is None:
        return "refused"
    return f"{reply.failure.type}: {reply.failure.message}"
