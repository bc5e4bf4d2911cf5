"""Starts a worker's process, by exec or through a nursery, and waits until it has locked itself."""

import contextlib
import json
import os
import re
import secrets
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cwm.sandbox.parent import payload, spawner
from cwm.sandbox.parent.channel import Channel, ClosedError, DeadlineError, OversizeError
from cwm.sandbox.parent.child import StartedChild
from cwm.sandbox.parent.isolation import WORKER, Isolation, interpreter
from cwm.sandbox.parent.replies import parse
from cwm.sandbox.wire.api import Level, Limits, SandboxUnavailableError

START_S = 30.0
"""A worker that is not ready by then never will be: the machine is at fault, not the program."""
LIBRARIES_START_S = 120.0
"""Importing and warming up libraries takes seconds on a machine with nothing else to do."""
EXIT_GRACE_S = 1.0
ENVELOPE_BYTES = 128 * 1024
"""Room in a frame beside the value: output tail, failure, traceback."""


@dataclass(frozen=True)
class Started:
    """A process that is locked and waits for a program.

    Attributes:
        channel: its pipes.
        level: isolation level that it confirmed.
        landlock: Landlock ABI in force, 0 for none.
        lock_s: seconds that locking took.
    """

    channel: Channel
    level: Level
    landlock: int
    lock_s: float


def settings_of(isolation: Isolation, limits: Limits) -> dict[str, Any]:
    """Returns a worker's settings, with an identity for the frame that says it is ready."""
    return {
        "isolation": isolation.settings(limits),
        "reply_bytes": limits.reply_bytes,
        "output_bytes": limits.output_bytes,
        "id": secrets.token_hex(8),
    }


def cold(
    isolation: Isolation,
    limits: Limits,
    modules: Sequence[str],
    first: bytes | None = None,
    libraries: payload.Libraries | None = None,
) -> Started:
    """Starts a worker by exec.

    Args:
        isolation: how.
        limits: caps.
        modules: trusted modules beside the core, in order.
        first: the first request, which the worker reads once it is locked; None for none.
        libraries: packages beyond the standard library, None for none.

    Raises:
        SandboxUnavailableError: it does not start, or cannot be locked.
    """
    told: dict[str, Any] = {"modules": payload.encoded(modules)}
    if libraries is not None:
        told["libraries"] = libraries.to_json()
        isolation = replace(isolation, shown=tuple(libraries.folders))
    settings = settings_of(isolation, limits)
    request_read, request_write = os.pipe()
    reply_read, reply_write = os.pipe()
    info_read, info_write = os.pipe()
    arguments = ["worker", str(request_read), str(reply_write)]
    ends = (request_read, reply_write, info_write)
    try:
        process = execute(isolation, arguments, ends, info_write, subprocess.PIPE)
    except BaseException:
        for descriptor in (request_write, reply_read, info_read):
            os.close(descriptor)
        raise
    finally:
        for descriptor in ends:
            os.close(descriptor)
    child = StartedChild(process)
    channel = Channel(child, request_write, reply_read, limits.output_bytes)
    setup = json.dumps({**told, "settings": settings}).encode("ascii")
    try:
        start_s = START_S if libraries is None else LIBRARIES_START_S
        started = confirmed(channel, settings, [setup, *([] if first is None else [first])], start_s)
        if isolation.wraps:
            child.wrapped = _told(info_read)
    finally:
        os.close(info_read)
    return started


def execute(
    isolation: Isolation, arguments: list[str], descriptors: Sequence[int], info_fd: int, output: int
) -> "subprocess.Popen[bytes]":
    """Starts the worker's file in a process of its own.

    Args:
        isolation: how.
        arguments: of the file.
        descriptors: that it inherits.
        info_fd: where a launcher tells the process id.
        output: what becomes of stdout and stderr, see `subprocess`.

    Raises:
        SandboxUnavailableError: the process cannot be started.
    """
    command = [interpreter(), "-s", "-S", "-P", "-B", str(WORKER), *arguments]
    try:
        return spawner.popen(
            isolation.command(command, info_fd),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PYTHONHASHSEED": str(isolation.hash_seed), "PATH": os.environ.get("PATH", os.defpath)},
            cwd="/",
            pass_fds=tuple(descriptors),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise SandboxUnavailableError(f"no worker process can be started: {error}") from error


def confirmed(channel: Channel, settings: dict[str, Any], frames: Sequence[bytes], start_s: float = START_S) -> Started:
    """Waits until a worker says that it is locked at the level asked for.

    Args:
        channel: its pipes; closed if it says anything else.
        settings: what it was given.
        frames: what it still lacks, and what it is to read once it is locked: sent at once, so that it need not wait.
        start_s: seconds that it may take.

    Raises:
        SandboxUnavailableError: it does not say so.
    """
    deadline = time.monotonic() + start_s
    level: Level = settings["isolation"]["level"]
    try:
        for frame in frames:
            channel.send(frame, deadline)
        parsed = parse(channel.receive(deadline, ENVELOPE_BYTES), settings["id"])
    except (DeadlineError, ClosedError, OversizeError) as error:
        channel.wait_for_end(EXIT_GRACE_S)
        said = channel.output().strip().splitlines()[-3:]
        channel.destroy()
        raise SandboxUnavailableError(
            f"No worker starts at the isolation level {level!r}: {' / '.join(said) or error}."
        ) from error
    except BaseException:
        channel.destroy()
        raise
    said_of_itself = parsed.reply.value if parsed is not None else None
    if not isinstance(said_of_itself, dict) or said_of_itself.get("level") != level:
        channel.destroy()
        raise SandboxUnavailableError(f"a worker did not confirm the isolation level {level!r}")
    return Started(channel, level, int(said_of_itself["landlock"]), float(said_of_itself["lock_s"]))


def _told(info_fd: int) -> int | None:
    """Returns the worker's process id, which the launcher wrote before the worker began."""
    with contextlib.suppress(BlockingIOError):
        os.set_blocking(info_fd, False)
        found = re.search(rb'"child-pid": *(\d+)', os.read(info_fd, 4096))
        return int(found[1]) if found else None
    return None
