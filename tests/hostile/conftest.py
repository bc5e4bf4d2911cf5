"""Hostile programs as data, and everything that they must not reach, under watch."""

import contextlib
import ctypes
import json
import os
import platform
import re
import resource
import secrets
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cwm.sandbox.lock.syscalls import ALLOWED, KILLED, current
from cwm.sandbox.parent import levels
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource, Reply

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
PRELOAD = "hostile_preload"
CONTRACT = ("games.contract.report", "games.contract.rules", "games.contract.game")
WATCHED_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGIO, signal.SIGURG, signal.SIGHUP, signal.SIGTERM)
WATCHED_LIMITS = tuple(getattr(resource, name) for name in dir(resource) if re.fullmatch("RLIMIT_[A-Z]+", name))
LEVELS = {"strong": ("strong", True), "strong without Landlock": ("strong", False), "strong+": ("strong+", True)}
SUBREAPER = 36
PASSED_BY = {"x86_64": (335, 336), "aarch64": ()}
"""Calls (uretprobe, uprobe) that newer kernels answer before they ask any filter: see `syscalls__uprobes`."""
LATE_S = 0.5
"""So much later than its limit a case may be classified."""
ATTEMPTS = 3
"""On a machine that is busy with other things, a case is given so many chances to be in time."""
INFO = {
    "id": "hostile",
    "num_players": 1,
    "utility": "general_sum",
    "min_utility": 0.0,
    "max_utility": 1.0,
    "perfect_information": True,
    "has_chance": False,
    "player_names": ["a"],
}


@dataclass(frozen=True)
class Case:
    """One program of the corpus, and what is expected of it.

    Attributes:
        name: FAMILY__NAME.
        source: the program.
        expected: outcomes that it may have at a strong level.
        process: what it does at level process: `breach`, `maybe` (depends on the machine), `none`, or `skip` (it
            would harm the machine).
        limits: caps.
        slow: whether it takes long.
    """

    name: str
    source: str
    expected: frozenset[Outcome]
    process: str
    limits: Limits
    slow: bool

    @property
    def family(self) -> str:
        return self.name.split("__")[0]

    @property
    def takes_its_time(self) -> bool:
        return self.slow or self.expected & {Outcome.WALL_TIMEOUT, Outcome.CPU_EXCEEDED} != frozenset()

    def program(self, target: dict[str, Any]) -> ProgramSource:
        return ProgramSource(self.source, target, INFO)


def read_case(path: Path) -> Case:
    """Returns a program with what its header says of it."""
    source = path.read_text(encoding="utf-8")
    header = dict(re.findall(r"^# ([a-z]+): (.*)$", source, re.MULTILINE))
    if "then" in header:
        text, count = header["then"].rsplit(" * ", 1)
        source += text.encode("ascii").decode("unicode_escape") * int(count)
    return Case(
        name=path.stem,
        source=source,
        expected=frozenset(map(Outcome, header["expect"].split())),
        process=header["process"],
        limits=Limits(
            memory_mb=int(header.get("memory", 256)),
            cpu_s=int(header.get("cpu", 60)),
            wall_s=float(header.get("limit", 3.0)),
            reply_bytes=1_000_000,
        ),
        slow=header.get("slow") == "yes",
    )


CASES = [read_case(path) for path in sorted(PROGRAMS.glob("*__*.py")) if not path.name.startswith("model__")]


class Watch:
    """Secrets, files, sockets, processes, signals and limits of the parent: what a program did to them."""

    def __init__(self, folder: Path) -> None:
        """Args:
        folder: for its files.
        """
        self._folder = folder
        self._claim, self._file, self._key, heap = (f"CANARY-{secrets.token_hex(12)}" for _ in range(4))
        self._heap = ctypes.create_string_buffer(heap.encode())
        self._tokens = {
            "said itself that it got through": self._claim,
            "read a file": self._file,
            "read the parent's variables": self._key,
            "read the parent's memory": heap,
        }
        given = Path("/proc/self/environ").read_text("utf-8", "replace").split("\0")
        plain = [entry for entry in given if re.fullmatch(r"\w+=[\w/.:-]{8,}", entry) and not entry.startswith("PATH=")]
        if plain:
            self._tokens["read the environment that the parent was given"] = plain[0]
        name = f"cwm-canary-{os.getpid()}-{secrets.token_hex(4)}"
        self._sockets = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"{folder}/s"),
            "abstract": _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}"),
        }
        self._number = 0
        self._target: dict[str, Any] = {
            "claim": self._claim,
            "pid": os.getpid(),
            "heap": [ctypes.addressof(self._heap), len(heap)],
            "variable": "CWM_CANARY_KEY",
            "tcp": self._sockets["tcp"].getsockname()[1],
            "udp": self._sockets["udp"].getsockname()[1],
            "unix": f"{folder}/s",
            "abstract": name,
            "refused": _refused(),
        }
        os.environ["CWM_CANARY_KEY"] = self._key
        self._signals: list[int] = []

    def close(self) -> None:
        """Lets go of everything."""
        del os.environ["CWM_CANARY_KEY"]
        for one in self._sockets.values():
            one.close()

    def begin(self) -> dict[str, Any]:
        """Puts everything in its place; returns what the next program is told."""
        self._number += 1
        self._place = self._folder / str(self._number)
        for name in ("inside", "outside"):
            (self._place / name).mkdir(parents=True)
        (self._place / "inside" / "kept").write_text("kept")
        (self._place / "outside" / "secret").write_text(self._file)
        self._files = _snapshot(self._place)
        self._limits = {which: resource.getrlimit(which) for which in WATCHED_LIMITS}
        self._descriptors = _descriptors()
        self._processes = set(descendants())
        self._heap_before = self._heap.raw
        self._signals.clear()
        self._handlers = {one: signal.signal(one, lambda got, _: self._signals.append(got)) for one in WATCHED_SIGNALS}
        places = {"inside": str(self._place / "inside"), "outside": str(self._place / "outside")}
        return self._target | places | {"secret_file": str(self._place / "outside" / "secret")}

    def breaches(self, replies: list[Reply]) -> list[str]:
        """Returns what a program did that it must not be able to do; clears all of it away."""
        found = [*self._said(replies), *self._sent(), *self._processes_left()]
        changed = _snapshot(self._place)
        found += [f"changed {path}" for path in changed.keys() ^ self._files.keys()]
        found += [
            f"changed {path}" for path in changed.keys() & self._files.keys() if changed[path] != self._files[path]
        ]
        found += [f"sent the parent signal {number}" for number in set(self._signals)]
        for one, handler in self._handlers.items():
            signal.signal(one, handler)
        if self._heap.raw != self._heap_before:
            found.append("wrote into the parent's memory")
            self._heap.raw = self._heap_before
        if not re.search(r"^TracerPid:\s+0$", Path("/proc/self/status").read_text(), re.MULTILINE):
            found.append("traces the parent")
        for which, before in self._limits.items():
            if resource.getrlimit(which) != before:
                found.append(f"changed the parent's limit {which}")
                resource.setrlimit(which, before)
        found += [f"left descriptor {number} open in the parent" for number in _descriptors() - self._descriptors]
        shutil.rmtree(self._place)
        return found

    def _said(self, replies: list[Reply]) -> list[str]:
        text = "".join(
            json.dumps([reply.value, str(reply.failure), reply.output_tail], ensure_ascii=False) for reply in replies
        )
        return [what for what, token in self._tokens.items() if token in text]

    def _sent(self) -> Iterator[str]:
        for name, one in self._sockets.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if name == "udp":
                        one.recv(1000)
                    else:
                        one.accept()[0].close()
                    yield f"reached the listener {name}"

    def _processes_left(self) -> Iterator[str]:
        for pid, state in descendants().items():
            if pid in self._processes:
                continue
            if state != "Z":
                yield f"left process {pid} behind"
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _bound(family: int, kind: int, address: Any) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)
    made.setblocking(False)
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made


def _refused() -> list[int]:
    """Returns the numbers of all system calls that are neither allowed nor kill at once."""
    architecture = current()
    if architecture is None:
        return []
    others = {architecture.numbers.get(name) for name in (*ALLOWED, *KILLED)}
    others |= set(PASSED_BY[platform.machine()])
    return [number for number in range(600) if number not in others]


def _snapshot(folder: Path) -> dict[str, Any]:
    found = {}
    for path in [folder, *folder.rglob("*")]:
        stat = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (stat.st_mode, stat.st_nlink, stat.st_mtime_ns, content)
    return found


def _descriptors() -> set[str]:
    with os.scandir("/proc/self/fd") as entries:
        return {f"{entry.name} -> {_link(entry.path)}" for entry in entries} - {None}


def _link(path: str) -> str:
    try:
        link = os.readlink(path)
    except OSError:
        return "gone"
    return "gone" if link.startswith("/proc/") else link


def descendants() -> dict[int, str]:
    """Returns the state of every process that descends from this one, orphans included."""
    parents: dict[int, tuple[int, str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            parents[int(stat.parent.name)] = (int(parent), state)
    found: dict[int, str] = {}
    for pid in parents:
        line = [pid]
        while line[-1] in parents and line[-1] != os.getpid():
            line.append(parents[line[-1]][0])
        if line[-1] == os.getpid() and pid != os.getpid():
            found[pid] = parents[pid][1]
    return found


@dataclass(frozen=True)
class Verdict:
    """What became of one program at one level.

    Attributes:
        outcome: of loading it if that failed, else of the call.
        replies: all of them.
        breaches: what it did that it must not be able to do.
        late_s: how much later than its limit it was classified, seconds; without those in which it stood in line for
            a processor.
    """

    outcome: Outcome
    replies: list[Reply]
    breaches: list[str]
    late_s: float


class Gauntlet:
    """Runs programs under watch."""

    def __init__(self, watch: Watch) -> None:
        """Args:
        watch: over everything that they must not reach.
        """
        self._watch = watch

    def sandbox(self, limits: Limits, level: str) -> Sandbox:
        """Returns a sandbox of a level of `LEVELS`, or `process`."""
        name, landlock = LEVELS.get(level, (level, True))
        return Sandbox(limits, levels.named(name), (PRELOAD, *CONTRACT), landlock=landlock)

    def run(self, case: Case, level: str) -> Verdict:
        """Runs a program once."""
        sandbox = self.sandbox(case.limits, level)
        target = self._watch.begin()
        with sandbox.start(case.program(target)) as worker:
            replies = [worker.loaded]
            if worker.loaded.outcome is Outcome.OK:
                replies.append(worker.call("attack", [target], seed=0))
            # Its limit moves by the time in which others had the processors.
            allowed_s = case.limits.wall_s + worker.excused_s
        breaches = self._watch.breaches(replies)
        late = max(reply.wall_s for reply in replies) - allowed_s
        return Verdict(replies[-1].outcome, replies, breaches, late)

    def run_in_time(self, case: Case, level: str) -> Verdict:
        """Runs a program, again if it was classified too late."""
        for _ in range(ATTEMPTS):
            verdict = self.run(case, level)
            if verdict.late_s <= LATE_S:
                break
        return verdict


@pytest.fixture(scope="session")
def gauntlet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gauntlet]:
    """Returns what runs programs under watch; nurseries are warm."""
    if platform.system() != "Linux":
        pytest.skip("the detectors read /proc")
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        watch = Watch(tmp_path_factory.mktemp("watch"))
        made = Gauntlet(watch)
        for level in levels_here():
            made.sandbox(Limits(), level).start(ProgramSource("", {}, INFO)).close()
        yield made
        watch.close()
    ctypes.CDLL(None).prctl(SUBREAPER, 0, 0, 0, 0)


def levels_here() -> list[str]:
    """Returns the strong levels that this machine has."""
    return [name for name, (level, _) in LEVELS.items() if levels.probe(levels.named(level)).problem is None]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        wanted = getattr(metafunc.function, "wanted", lambda case: True)
        marked = [
            pytest.param(case, id=case.name, marks=[pytest.mark.slow, pytest.mark.alone] if case.slow else [])
            for case in CASES
            if wanted(case)
        ]
        metafunc.parametrize("case", marked)


@pytest.fixture(scope="session", name="descendants")
def descendants_fixture() -> Callable[[], dict[int, str]]:
    return descendants


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    return CASES


@pytest.fixture(scope="session")
def strong_levels() -> list[str]:
    return levels_here()
