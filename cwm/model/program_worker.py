"""A model's program in a worker of its own, with the answers that it gave: what every model in the parent stands on."""

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from cwm.model.bundle import ModelBundle
from cwm.sandbox.parent.host import Sandbox, Worker
from games.api import Json

CACHED_ANSWERS: Final = 4096


class ProgramWorker:
    """Starts a program's worker when it is first needed, and another one in the place of one that died."""

    def __init__(self, bundle: ModelBundle, sandbox: Sandbox) -> None:
        """Starts nothing yet.

        Args:
            bundle: the model.
            sandbox: where it runs.
        """
        self._bundle = bundle
        self._sandbox = sandbox
        self._answers: OrderedDict[str, str] = OrderedDict()
        self._worker: Worker | None = None

    def started(self) -> Worker:
        """Returns the worker, alive.

        Raises:
            SandboxUnavailableError: none can be started.
        """
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.start(self._bundle.program())
        return self._worker

    def answer(self, key: str, ask: Callable[[], Json]) -> Any:
        """Returns what was answered to a question before, or asks it now; the caller owns what it gets.

        Args:
            key: tells the question from others.
            ask: asks it; what it raises is remembered by nobody.
        """
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = json.dumps(ask())
            if len(self._answers) > CACHED_ANSWERS:
                self._answers.popitem(last=False)
        return json.loads(known)

    def close(self) -> None:
        """Ends the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
