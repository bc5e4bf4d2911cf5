"""Trusted modules for a worker: found and compiled once in the parent, then sent; a worker needs no path to them."""

import base64
import functools
import importlib.util
import marshal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cwm.sandbox.wire.api import SandboxUnavailableError

CORE = (
    "games.api",
    "games.posg.api",
    "games.posg.chance",
    "cwm.sandbox.wire.arrays",
    "cwm.sandbox.wire.api",
    "cwm.sandbox.wire.plain_json",
    "cwm.sandbox.wire.failures",
    "cwm.sandbox.inside.output",
    "cwm.sandbox.lock.syscalls",
    "cwm.sandbox.lock.seccomp",
    "cwm.sandbox.lock.landlock",
    "cwm.sandbox.lock.lock",
    "cwm.sandbox.inside.joint_program",
    "cwm.sandbox.inside.program",
    "cwm.sandbox.inside.checked_game",
    "cwm.sandbox.inside.comparisons",
    "cwm.sandbox.inside.calls",
    "cwm.sandbox.inside.transition",
    "cwm.sandbox.inside.inference",
    "cwm.sandbox.inside.closed_deck",
    "cwm.sandbox.inside.state",
    "cwm.sandbox.inside.play",
    "cwm.sandbox.inside.draws",
    "cwm.sandbox.inside.joint_checks",
    "cwm.sandbox.inside.runner",
    "cwm.sandbox.worker.service",
    "cwm.sandbox.worker.nursery",
)
"""What every worker loads, in order."""


@dataclass(frozen=True)
class Libraries:
    """Packages beyond the standard library that a worker imports before it locks itself.

    Attributes:
        names: of the packages that it imports, in order.
        packages: all that lie in folders which it must see meanwhile, those that these import included.
        module: a module of the payload.
        warm_up: its function without arguments that has them load whatever they load late.
        environment: variables that they read.
        extra: the extra of this distribution that installs them.
    """

    names: tuple[str, ...]
    packages: tuple[str, ...]
    module: str
    warm_up: str
    environment: dict[str, str] = field(default_factory=dict)
    extra: str = ""

    @property
    def folders(self) -> list[str]:
        """The folders that they lie in.

        Raises:
            SandboxUnavailableError: one is not installed.
        """
        found: dict[str, None] = {}
        for name in self.packages:
            spec = importlib.util.find_spec(name)
            if spec is None or not spec.submodule_search_locations:
                raise SandboxUnavailableError(
                    f"the worker needs the package {name!r}, which is not installed; install the extra {self.extra!r}, "
                    f"e.g. `pip install 'code-world-models[{self.extra}]'`"
                )
            found |= {str(Path(place).parent): None for place in spec.submodule_search_locations}
        return list(found)

    def to_json(self) -> dict[str, Any]:
        """Returns what a worker is told."""
        return {
            "folders": self.folders,
            "names": list(self.names),
            "environment": self.environment,
            "module": self.module,
            "warm_up": self.warm_up,
        }


def encoded(names: Sequence[str]) -> list[tuple[str, str]]:
    """Returns (name, code) of the core modules and then of `names`, each once, in order.

    Raises:
        SandboxUnavailableError: a module cannot be found.
    """
    return [(name, _encoded(name)) for name in dict.fromkeys((*CORE, *names))]


@functools.cache
def _encoded(name: str) -> str:
    # The worker runs the same interpreter, so that its byte code can be shared.
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SandboxUnavailableError(f"the worker needs the module {name!r}, which cannot be found; is it installed?")
    source = Path(spec.origin).read_text(encoding="utf-8")
    code = compile(source, f"<{name}>", "exec", dont_inherit=True)
    return base64.b64encode(marshal.dumps(code)).decode("ascii")
