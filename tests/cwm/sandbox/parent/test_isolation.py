"""The lock of a worker, its parts, and what it holds back at every level that this machine has."""

import ctypes
import json
import os
import platform
import signal
import struct
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cwm.sandbox.lock import landlock, seccomp
from cwm.sandbox.lock.syscalls import ALLOWED, ARCHITECTURES, DENIED, KILLED, current
from cwm.sandbox.parent import attacks, isolation, launch, levels, nurseries
from cwm.sandbox.parent.attacks import INFO
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.parent.levels import Probe, Wish
from cwm.sandbox.parent.static_check import ALLOWED_MODULES
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource, SandboxUnavailableError

ROOT = Path(__file__).resolve().parents[4]
HAD = [level for level in levels.STRONG if levels.probe(level).problem is None]
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
needs_strong = pytest.mark.skipif(not HAD, reason="no strong level on this machine")


def program(body: str) -> ProgramSource:
    return ProgramSource(f"import os, sys, time\ndef f(x):\n{textwrap.indent(body, '    ')}\n", {}, INFO)


def evaluate(words: bytes, call: tuple[int, int, list[int]]) -> int:
    """Runs a filter on (number, architecture, arguments) as the kernel does."""
    number, audit, arguments = call
    data = struct.pack("=iIQ6Q", number, audit, 0, *(arguments + [0] * 6)[:6])
    code = [struct.unpack_from("=HBBI", words, at) for at in range(0, len(words), 8)]
    at = accumulator = 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x06:
            return value
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
            continue
        tests = {0x15: accumulator == value, 0x35: accumulator >= value, 0x25: accumulator > value}
        met = tests.get(operation, bool(accumulator & value))
        at += yes if met else no


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
class TestFilter:
    """The filter's own logic, for both processors, without a kernel."""

    def verdict(self, machine: str, name: str, *arguments: int) -> int:
        table = ARCHITECTURES[machine]
        return evaluate(seccomp.assemble(table, 77), (table.numbers[name], table.audit, list(arguments)))

    def test_a_call_on_the_list_is_allowed(self, machine):
        for name in set(ALLOWED) - {"tgkill"}:
            if name in ARCHITECTURES[machine].numbers:
                assert self.verdict(machine, name) == seccomp.ALLOW, name

    def test_the_guard_of_our_own_code_lets_threads_start_and_nothing_else(self, machine):
        table = ARCHITECTURES[machine]
        words = seccomp.assemble_guard(table, 77)

        def verdict(name, *arguments):
            return evaluate(words, (table.numbers[name], table.audit, list(arguments)))

        assert verdict("clone", 0x3D0F00) == seccomp.ALLOW
        assert verdict("clone", 17) == seccomp.REFUSE
        assert verdict("clone3") == seccomp.NOT_THERE
        assert (verdict("tgkill", 77), verdict("tgkill", 78)) == (seccomp.ALLOW, seccomp.REFUSE)
        assert (verdict("prlimit64", 0), verdict("prlimit64", 5)) == (seccomp.ALLOW, seccomp.REFUSE)
        assert {verdict(name) for name in DENIED if name in table.numbers} == {seccomp.REFUSE}
        assert {verdict(name) for name in KILLED if name in table.numbers} == {seccomp.KILL_PROCESS}
        assert verdict("mmap", 0, 4096, 7) == seccomp.ALLOW
        assert evaluate(words, (0, table.audit ^ 1, [])) == seccomp.KILL_PROCESS

    @pytest.mark.parametrize("name", ["openat", "socket", "connect", "kill", "fcntl", "execve", "prlimit64", "unshare"])
    def test_a_call_off_the_list_is_refused(self, machine, name):
        assert self.verdict(machine, name) == seccomp.REFUSE

    def test_every_number_that_is_not_on_the_list_is_refused_or_kills(self, machine):
        table = ARCHITECTURES[machine]
        words = seccomp.assemble(table, 77)
        allowed = {table.numbers[name] for name in ALLOWED if name in table.numbers}
        for number in set(range(600)) - allowed:
            assert evaluate(words, (number, table.audit, [])) in (seccomp.REFUSE, seccomp.KILL_PROCESS), number

    @pytest.mark.parametrize("name", KILLED)
    def test_a_call_that_is_no_mistake_kills(self, machine, name):
        assert self.verdict(machine, name) == seccomp.KILL_PROCESS

    @pytest.mark.parametrize("name", ["mmap", "mprotect"])
    def test_executable_memory_is_refused_whatever_else_is_asked(self, machine, name):
        assert [self.verdict(machine, name, 0, 4096, bits) for bits in (0, 1, 3)] == [seccomp.ALLOW] * 3
        assert [self.verdict(machine, name, 0, 4096, bits) for bits in (4, 5, 7, 4 | 1 << 24)] == [seccomp.REFUSE] * 4

    def test_a_process_may_signal_itself_alone(self, machine):
        assert self.verdict(machine, "tgkill", 77, 77, 6) == seccomp.ALLOW
        assert self.verdict(machine, "tgkill", 1, 1, 6) == seccomp.REFUSE

    def test_memory_cannot_be_broken_on_purpose(self, machine):
        assert self.verdict(machine, "madvise", 0, 4096, 4) == seccomp.ALLOW
        assert self.verdict(machine, "madvise", 0, 4096, 100) == seccomp.REFUSE

    def test_a_foreign_architecture_kills(self, machine):
        words = seccomp.assemble(ARCHITECTURES[machine], 77)
        assert evaluate(words, (0, 0x40000003, [])) == seccomp.KILL_PROCESS

    def test_numbers_are_those_of_the_kernels_own_table(self, machine):
        header = HEADERS[machine]
        if not header.is_file():
            pytest.skip("the kernel's headers are not installed")
        lines = [line.split() for line in header.read_text(encoding="ascii").splitlines()]
        known = {
            words[1].removeprefix("__NR3264_").removeprefix("__NR_"): int(words[2])
            for words in lines
            if len(words) == 3 and words[0] == "#define" and words[1].startswith("__NR") and words[2].isdigit()
        }
        for name, number in ARCHITECTURES[machine].numbers.items():
            assert known[name] == number, name


def test_calls_of_the_x32_table_kill():
    table = ARCHITECTURES["x86_64"]
    assert evaluate(seccomp.assemble(table, 77), (0x40000000, table.audit, [])) == seccomp.KILL_PROCESS


def test_calls_that_reach_other_processes_are_on_no_list():
    assert not {"fcntl", "ioctl", "prctl", "dup", "dup2", "newfstatat", "fstatat"} & set(ALLOWED)


@needs_strong
@pytest.mark.parametrize("level", HAD)
@pytest.mark.parametrize(("nursery", "landlock"), [(True, True), (True, False), (False, True)])
def test_every_attack_of_the_doctor_fails_at_a_strong_level(level, nursery, landlock):
    findings = list(attacks.attempt(level, nursery=nursery, landlock=landlock))
    assert [(found.attack.name, found.detail) for found in findings if not found.held] == []
    assert len(findings) >= 12
    # An attack that ends at an import shows nothing: it must reach the system call.
    too_early = ("ImportError", "ModuleNotFoundError", "NameError", "AttributeError")
    assert [found.attack.name for found in findings if found.detail.startswith(too_early)] == []


SHUT = """
import threading, time
from cwm.sandbox.lock import lock

def read():
    try:
        open("/etc/passwd").close()
        print("read")
    except PermissionError:
        print("refused")

if {before}:
    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
try:
    lock.shut_before_threads({{"level": "strong", "landlock": True}})
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
except lock.LockError as error:
    print(error)
"""


@needs_strong
def test_threads_that_libraries_start_inherit_the_lock_and_none_may_be_there_before():
    def said(before):
        command = [sys.executable, "-c", SHUT.format(before=before)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT).stdout

    assert "started threads before the worker locked itself" in said(True)
    if landlock.abi(current(), ctypes.CDLL(None)):
        assert said(False) == "refused\n"


GUARDED = """
import ctypes, mmap, os, socket, subprocess, threading
from cwm.sandbox.lock import lock

lock.guard(os.getppid())
libc = ctypes.CDLL(None, use_errno=True)
found = []

def tried(name, act):
    try:
        act()
        found.append(name)
    except OSError:
        pass

def attempts():
    tried("random", lambda: open("/dev/urandom", "rb").close())
    tried("machine code", lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC))
    tried("read", lambda: open("/etc/passwd").close())
    tried("list", lambda: os.listdir("/"))
    tried("write", lambda: open("/tmp/guarded", "w").close())
    tried("socket", socket.socket)
    tried("fork", lambda: os.fork() or os._exit(0))
    tried("exec", lambda: os.execv("/bin/true", ["true"]))
    tried("kill", lambda: os.kill(os.getppid(), 0))

thread = threading.Thread(target=attempts)
thread.start()
thread.join()
print(*found, sep=", ")
"""


@needs_strong
def test_our_own_code_that_is_guarded_can_compile_and_nothing_more():
    command = [sys.executable, "-c", GUARDED]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    files = [] if landlock.abi(current(), ctypes.CDLL(None)) else ["read", "list", "write"]
    assert said.stdout.strip() == ", ".join(["random", "machine code", *files]), said.stderr


@needs_strong
def test_the_attacks_succeed_where_nothing_holds_them():
    broken = {found.attack.name for found in attacks.attempt("process") if not found.held}
    assert {"read_file", "list_folder", "parent_environment", "tcp", "socket", "program", "fork", "thread"} <= broken
    assert not broken & {attack.name for attack in attacks.ATTACKS if attack.weak}


@needs_strong
@pytest.mark.parametrize("level", HAD)
@pytest.mark.parametrize("nursery", [True, False])
def test_a_worker_confirms_its_level_and_names_what_kills_it(level, nursery):
    with Sandbox(Limits(cpu_s=1), level, nursery=nursery).start(program("while True: pass")) as worker:
        assert worker.level == level
        reply = worker.call("f", [0], seed=0)
        assert (reply.outcome, reply.failure.line) == (Outcome.CPU_EXCEEDED, 3)
    with Sandbox(level=level, nursery=nursery).start(program("import ctypes\nctypes.string_at(0)")) as worker:
        assert worker.call("f", [0], seed=0).failure.type == "SIGSEGV"
    lines = set()
    # A worker that gets no processor for a while cannot say where it was: then its line is None, never another.
    for _ in range(3):
        with Sandbox(level=level, nursery=nursery).start(program("print('a')\nwhile True: pass")) as worker:
            reply = worker.call("f", [0], seed=0, timeout_s=0.5)
            assert (reply.outcome, reply.output_tail) == (Outcome.WALL_TIMEOUT, "a\n")
            lines.add(reply.failure.line)
    assert 4 in lines
    assert lines <= {4, None}
    with Sandbox(level=level, nursery=nursery).start(program("os._exit(0)")) as worker:
        assert worker.call("f", [0], seed=0).failure.message.endswith("exit status 0")


@needs_strong
@pytest.mark.parametrize("level", HAD)
def test_forked_and_started_workers_give_the_same_answers(level):
    body = "import random\nreturn [list({str(n) for n in range(40)}), random.random(), sorted(os.environ), sys.path]"
    replies = []
    for nursery in (True, False):
        with Sandbox(level=level, nursery=nursery).start(program(body)) as worker:
            replies.append(worker.call("f", [0], seed=3).value)
    assert replies[0] == replies[1]


@needs_strong
@pytest.mark.parametrize("nursery", [True, False])
def test_a_worker_holds_its_pipes_and_nothing_else(nursery):
    body = """
    found = []
    for number in range(0, 1024):
        try: os.write(number, b'')
        except OSError as error:
            if error.errno == 9: continue
        found.append(number)
    return found
    """
    with Sandbox(level=HAD[-1], nursery=nursery).start(program(textwrap.dedent(body).strip())) as worker:
        # Input is the null device.
        assert worker.call("f", [0], seed=0).value == [0, 1, 2, 4]


@needs_strong
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors do not have these calls")
@pytest.mark.parametrize("level", HAD)
def test_calls_that_the_kernel_answers_before_the_filter_do_nothing(level):
    body = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nreturn [libc.syscall(x), ctypes.get_errno()]"
    for number in (335, 336):
        with Sandbox(level=level).start(program(body)) as worker:
            reply = worker.call("f", [number], seed=0)
        if reply.outcome is Outcome.CRASHED:
            assert reply.failure.type == "SIGILL", number
        else:
            # Refused by the filter of a kernel that has no such call, or by a kernel that has no probe here (ENXIO).
            assert reply.value in ([-1, 1], [-1, 6]), number


@needs_strong
def test_every_allowed_module_works_behind_the_lock():
    body = """
    import bisect, collections, copy, dataclasses, enum, fractions, functools, heapq, itertools, json, math, operator
    import random, re, statistics, string, typing
    from collections.abc import Mapping
    @dataclasses.dataclass(order=True, frozen=True)
    class Point:
        x: int
        y: 'list[int]' = dataclasses.field(default_factory=list)
    class Color(enum.Flag):
        RED = enum.auto()
        BLUE = enum.auto()
    @functools.singledispatch
    def show(x): return 'other'
    @show.register
    def _(x: int): return 'int'
    class Pair(typing.NamedTuple):
        a: int
        b: int = 2
    made = [
        copy.deepcopy(Point(1, [2])), dataclasses.replace(Point(1), x=2), repr(Color.RED | Color.BLUE), show(3),
        Pair(1), typing.get_type_hints(Point), collections.Counter('aab').most_common(1), fractions.Fraction('1/3'),
        statistics.quantiles([1, 2, 3]), statistics.NormalDist(0, 1).cdf(1), string.Template('$a').substitute(a=1),
        re.sub(r'(?P<a>\\w)', lambda m: m['a'] * 2, 'x'), json.loads(b'[1]'), json.dumps(1.5), str(10 ** 3000),
        'ä'.encode('latin-1'), 'ä'.encode('utf-16').decode('utf-16'), '\\\\n'.encode().decode('unicode_escape'),
        random.Random('seed').gauss(0, 1), random.SystemRandom().random() < 1, eval('"\\\\N{BULLET}"'),
        math.comb(5, 2), f'{1234567.891:,.2f}', '%.3e' % 5, Mapping, heapq.nlargest(1, [1]), time.process_time() > 0,
        sorted([3, 1], key=functools.cmp_to_key(lambda a, b: a - b)), string.Formatter().format('{0}', 1),
    ]
    try: raise ExceptionGroup('g', [ValueError(1)])
    except* ValueError: pass
    import warnings
    warnings.warn('shown')
    exec('from __future__ import annotations')
    exec('x = 1 is 1')
    return len(made)
    """
    for level in HAD:
        with Sandbox(level=level).start(program(textwrap.dedent(body).strip())) as worker:
            assert worker.loaded.outcome is Outcome.OK, worker.loaded.failure
            reply = worker.call("f", [0], seed=0)
            assert (reply.outcome, reply.value) == (Outcome.OK, 29), reply.failure
            assert "shown" in reply.output_tail
    imports = "; ".join(f"import {name}" for name in sorted(ALLOWED_MODULES))
    with Sandbox(level=HAD[0]).start(program(f"{imports}\nreturn 1")) as worker:
        assert worker.call("f", [0], seed=0).value == 1


@needs_strong
def test_a_module_that_is_not_there_is_named():
    with Sandbox(level=HAD[0]).start(program("import numpy")) as worker:
        failure = worker.call("f", [0], seed=0).failure
        assert (failure.type, failure.message) == ("ModuleNotFoundError", "No module named 'numpy'")


@needs_strong
def test_workers_outlive_the_thread_that_asked_for_them():
    sandbox = Sandbox(level=HAD[-1], nursery=False)
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(sandbox.start, program("return x")).result()
    time.sleep(0.1)
    with worker:
        assert worker.call("f", [5], seed=0).value == 5


def living(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def descendants(pid: int) -> set[int]:
    found = {int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    for task in Path(f"/proc/{pid}/task").iterdir():
        found |= {int(text) for text in (task / "children").read_text().split()}
    return found | {deep for child in found for deep in descendants(child)}


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("level", [*HAD, "process"])
@pytest.mark.parametrize("nursery", [True, False])
def test_a_busy_worker_dies_with_a_parent_that_is_killed(level, nursery):
    code = (
        "from cwm.sandbox.parent.host import Sandbox\nfrom cwm.sandbox.wire.api import ProgramSource\n"
        f"program = ProgramSource('def f(x):\\n    while True: pass', {{}}, {INFO!r})\n"
        f"worker = Sandbox(level={level!r}, nursery={nursery}).start(program)\n"
        "print('ready', flush=True)\nworker.call('f', [0], seed=0)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        started = descendants(parent.pid)
        assert started
        parent.kill()
    end = time.monotonic() + 10.0
    while any(living(pid) for pid in started) and time.monotonic() < end:
        time.sleep(0.02)
    assert not [pid for pid in started if living(pid)]


@needs_strong
def test_many_workers_leave_no_descriptor_and_no_process():
    sandbox = Sandbox(level=HAD[0])
    sandbox.start(program("return 1")).close()
    before = len(os.listdir("/proc/self/fd")), len(descendants(os.getpid()))
    for body in ["return 1", "os._exit(3)", "import ctypes\nctypes.string_at(0)", "os.close(4)"] * 5:
        with sandbox.start(program(body)) as worker:
            worker.call("f", [0], seed=0, timeout_s=2.0)
    assert (len(os.listdir("/proc/self/fd")), len(descendants(os.getpid()))) == before


@needs_strong
def test_a_nursery_that_dies_takes_its_workers_and_is_replaced():
    # Tests before may have left one at another level.
    nurseries.close_all()
    sandbox = Sandbox(level=HAD[-1], payload=("cwm.functions.value_probe",))
    worker = sandbox.start(program("return x"))
    [nursery] = [found for kind, found in nurseries._known.items() if kind[-1] == ("cwm.functions.value_probe",)]
    nursery._process.send_signal(signal.SIGKILL)
    nursery._process.wait()
    reply = worker.call("f", [1], seed=0)
    worker.close()
    assert reply.outcome is Outcome.INFRA_ERROR
    for _ in range(2):
        with sandbox.start(program("return x")) as another:
            assert another.call("f", [2], seed=0).value == 2


@needs_strong
def test_the_lock_holds_for_an_unprivileged_user_too(stranger):
    code = (
        "import json\nfrom cwm.sandbox.parent import attacks\n"
        "print(json.dumps([[f.attack.name, f.held, f.detail] for f in attacks.attempt('strong')]))\n"
    )
    ran = stranger.run("-c", code)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found
    assert [name for name, held, _ in found if not held] == []


def test_a_strong_level_that_is_not_there_is_refused_in_one_sentence(monkeypatch):
    missing = {level: Probe(level, "it needs Linux on x86-64 or aarch64") for level in levels.STRONG}
    monkeypatch.setattr(levels, "probe", lambda level: missing.get(level, Probe(level, None)))
    assert levels.best() is None
    monkeypatch.delenv(levels.ALLOW_PROCESS, raising=False)
    assert levels.default() == "strong"
    with pytest.raises(SandboxUnavailableError, match="programs that do not ship with the project are not run"):
        levels.ensure(levels.default())
    with levels.wishing(Wish(allow_process=True)):
        assert levels.default() == "process"
    monkeypatch.setenv(levels.ALLOW_PROCESS, "1")
    assert levels.default() == "process"


def test_level_process_must_be_meant(monkeypatch):
    monkeypatch.delenv(levels.ALLOW_PROCESS, raising=False)
    with (
        pytest.raises(SandboxUnavailableError, match="add the option `allow_unsafe_process`"),
        levels.wishing(Wish("process")),
    ):
        pass
    with levels.wishing(Wish("process", allow_process=True)):
        assert Sandbox().level == "process"
    with levels.wishing(Wish("external")):
        assert Sandbox().level == "external"


def test_a_worker_that_cannot_lock_itself_runs_nothing(monkeypatch):
    monkeypatch.setattr(isolation.Isolation, "settings", lambda self, limits: {**settings(self, limits), "parent": 1})
    with pytest.raises(SandboxUnavailableError, match="the parent ended while its worker started"):
        launch.cold(isolation.Isolation("process"), Limits(), ())


settings = isolation.Isolation.settings


def test_another_architecture_has_no_strong_level(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert isolation.missing("strong") == "it needs Linux on x86-64 or aarch64"
    with pytest.raises(SandboxUnavailableError, match="not to be had here"):
        isolation.select("strong+")


def test_macos_has_no_level_that_holds_and_seatbelt_is_not_offered(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert isolation.missing("strong") == "it needs Linux on x86-64 or aarch64"
    assert isolation.missing("strong+") == "it needs Linux on x86-64 or aarch64"
    assert isolation.missing("seatbelt") == "this version does not have it"
    assert "seatbelt" not in (*levels.STRONG, *levels.WEAK)


def test_ctypes_is_there_for_the_lock():
    assert ctypes.sizeof(ctypes.c_void_p) == 8
