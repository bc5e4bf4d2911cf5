"""Real processes on real folders, started in milliseconds and killed with SIGKILL."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code, or minus the signal that ended it."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def statements(self) -> int:
        return int(self.err.split("statements ")[1].split()[0])


class Runner:
    """See `runner.py`."""

    def __init__(self, folder: Path) -> None:
        self._say = folder / "said"
        self._errors = (folder / "runner.err").open("w")
        paths = os.pathsep.join(filter(None, [str(HERE.parents[1]), os.environ.get("PYTHONPATH")]))
        # A level of its own would print notices and change settings from machine to machine.
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "runner.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )

    def start(self, **command: Any) -> int:
        """Starts a child and returns its process id; `wait` must follow."""
        assert self._process.stdin is not None
        text = json.dumps({**command, "say": str(self._say)}, default=str)
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        return int(self._answer()["pid"])

    def wait(self) -> Ended:
        code = int(self._answer()["code"])
        return Ended(code, Path(f"{self._say}.out").read_text(), Path(f"{self._say}.err").read_text())

    def run(self, **command: Any) -> Ended:
        self.start(**command)
        return self.wait()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the runner has ended"
        return dict(json.loads(line))

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._errors.close()


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    running = Runner(tmp_path_factory.mktemp("runner"))
    yield running
    running.stop()
