"""System calls by name and number, for the processors that have a strong level. Loaded into workers.

Numbers are those of Linux's own tables (`asm/unistd_64.h`, `asm-generic/unistd.h`).
"""

import platform
import sys
from dataclasses import dataclass

ALLOWED = (
    "read",
    "write",
    "futex",
    "clock_gettime",
    "mmap",
    "munmap",
    "mremap",
    "brk",
    "madvise",
    "mprotect",
    "rt_sigreturn",
    "rt_sigaction",
    "rt_sigprocmask",
    "sigaltstack",
    "getrandom",
    "clock_nanosleep",
    "nanosleep",
    "clock_getres",
    "gettimeofday",
    "time",
    "times",
    "getrusage",
    "getpid",
    "gettid",
    "tgkill",
    "sched_yield",
    "restart_syscall",
    "close",
    "exit",
    "exit_group",
)
"""All that a process needs which computes, talks over open pipes and dies well; some only with checked arguments.

Never among them: fcntl (it can have the kernel signal another process), ioctl, prctl, dup, newfstatat.
"""
KILLED = (
    "ptrace",
    "bpf",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "userfaultfd",
    "process_vm_readv",
    "process_vm_writev",
    "kexec_load",
    "init_module",
    "finit_module",
)
"""Calls that no program makes by mistake: the process is killed at once. All others fail with EPERM."""
DENIED = (
    "socket",
    "socketpair",
    "execve",
    "execveat",
    "fork",
    "vfork",
    "unshare",
    "setns",
    "kill",
    "tkill",
    "pidfd_open",
    "pidfd_send_signal",
    "memfd_create",
    "mount",
    "chroot",
    "openat2",
)
"""What a process of our own code is denied that compiles and computes with threads, beside `KILLED`."""


@dataclass(frozen=True)
class Architecture:
    """One processor's tables.

    Attributes:
        audit: the kernel's number of it (`AUDIT_ARCH_…`).
        foreign_from: call numbers from here on belong to another table (x32), None if there is none.
        numbers: by name; a name may be missing where the processor has no such call.
    """

    audit: int
    foreign_from: int | None
    numbers: dict[str, int]


def _numbers(text: str) -> dict[str, int]:
    words = text.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


# The calls from 424 on have the same number everywhere.
_SHARED = """
    pidfd_send_signal 424 pidfd_open 434 clone3 435 openat2 437
    io_uring_setup 425 io_uring_enter 426 io_uring_register 427 landlock_create_ruleset 444
    landlock_add_rule 445 landlock_restrict_self 446
    """
_X86_64 = _numbers(
    _SHARED
    + """
    read 0 write 1 close 3 mmap 9 mprotect 10 munmap 11 brk 12 rt_sigaction 13 rt_sigprocmask 14 rt_sigreturn 15
    sched_yield 24 mremap 25 madvise 28 nanosleep 35 getpid 39 socket 41 exit 60 kill 62 gettimeofday 96 getrusage 98
    times 100 ptrace 101 getppid 110 capset 126 sigaltstack 131 init_module 175 gettid 186 time 201 futex 202
    restart_syscall 219 clock_gettime 228 clock_getres 229 clock_nanosleep 230 exit_group 231 tgkill 234 kexec_load 246
    add_key 248 request_key 249 keyctl 250 openat 257 perf_event_open 298 prlimit64 302 process_vm_readv 310
    process_vm_writev 311 finit_module 313 seccomp 317 getrandom 318 memfd_create 319 bpf 321 userfaultfd 323
    fcntl 72 connect 42 execve 59 unshare 272 socketpair 53 clone 56 fork 57 vfork 58 mount 165 chroot 161 tkill 200
    setns 308 execveat 322
    """
)
_AARCH64 = _numbers(
    _SHARED
    + """
    fcntl 25 openat 56 close 57 read 63 write 64 capset 91 exit 93 exit_group 94 unshare 97 futex 98 nanosleep 101
    kexec_load 104 init_module 105 clock_gettime 113 clock_getres 114 clock_nanosleep 115 ptrace 117 sched_yield 124
    restart_syscall 128 kill 129 tgkill 131 sigaltstack 132 rt_sigaction 134 rt_sigprocmask 135 rt_sigreturn 139
    times 153 getrusage 165 gettimeofday 169 getpid 172 getppid 173 gettid 178 socket 198 connect 203 brk 214
    munmap 215 mremap 216 add_key 217 request_key 218 keyctl 219 execve 221 mmap 222 mprotect 226 madvise 233
    perf_event_open 241 prlimit64 261 process_vm_readv 270 process_vm_writev 271 finit_module 273 seccomp 277
    getrandom 278 memfd_create 279 bpf 280 userfaultfd 282 mount 40 chroot 51 tkill 130 socketpair 199 clone 220
    setns 268 execveat 281
    """
)
ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, 0x40000000, _X86_64),
    "aarch64": Architecture(0xC00000B7, None, _AARCH64),
}


def current() -> Architecture | None:
    """Returns the tables of this process, None where there is no strong level."""
    if not sys.platform.startswith("linux") or sys.maxsize < 2**32:
        return None
    return ARCHITECTURES.get(platform.machine())
