"""posggym 0.6.0 in a process of its own, over lines of JSON: an oracle for tests, never a source of games.

`python tests/oracle/posggym_bridge.py --build DIR` makes its virtual environment in DIR and says what is missing. Tests
use it where the environment variable POSGGYM_ORACLE names that folder, and are skipped elsewhere. posggym (MIT) wants
gymnasium below 1.0 and builds with files from GitHub alone, so its source is unpacked, not installed; no neural
network of it is used, so torch is not needed.

The standard library alone is imported here: the process that serves runs in the other environment.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

VARIABLE: Final = "POSGGYM_ORACLE"
SOURCE: Final = "posggym-0.6.0"
WANTED: Final = ("gymnasium==0.29.1", "numpy<2", "pymunk<7")
MOST_STATES: Final = 1_000
"""So many states are kept at the other side; those before are forgotten."""


def folder() -> Path | None:
    """Returns the folder in which the oracle was built, None where there is none."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and _python(Path(named)).exists() and (Path(named) / SOURCE).is_dir() else None


class Bridge:
    """One environment of posggym, asked step by step; a context manager that ends its process.

    States are numbers that stand for what the other side keeps, each with its JSON: tuples are lists, named tuples
    objects by their fields. Agents are the strings that posggym names them by.
    """

    def __init__(self, place: Path, env_id: str, **params: Any) -> None:
        self._process = subprocess.Popen(
            [str(_python(place)), __file__, "--serve", str(place / SOURCE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask(do="make", id=env_id, params=params)

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def start(self, seed: int | None = None) -> dict[str, Any]:
        """Returns `handle`, `state` and `observations` of a new game; a seed sets posggym's generator first."""
        return self._ask(do="start", seed=seed)

    def step(self, handle: int, actions: Mapping[str, Any]) -> dict[str, Any]:
        """Returns `handle`, `state`, `observations`, `rewards`, `terminated`, `all_done` after a step."""
        return self._ask(do="step", handle=handle, actions=actions)

    def sample(self, handle: int, actions: Mapping[str, Any], times: int) -> list[dict[str, Any]]:
        """Returns what `step` returns, without handles, for so many steps from one state."""
        found: list[dict[str, Any]] = self._ask(do="sample", handle=handle, actions=actions, times=times)["steps"]
        return found

    def call(self, method: str, *arguments: Any) -> Any:
        """Returns what a method of the model returns; lists in the arguments become tuples."""
        return self._ask(do="call", method=method, arguments=arguments)["result"]

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"posggym ended with code {self._process.wait()}; what it wrote stands above.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def build(place: Path) -> list[str]:
    """Makes the environment and returns what is missing, nothing if it works."""
    place.mkdir(parents=True, exist_ok=True)
    if not _python(place).exists():
        venv.create(place / "venv", with_pip=True)
    pip = [str(_python(place)), "-m", "pip", "--disable-pip-version-check", "-q"]
    missing = []
    if subprocess.run([*pip, "install", *WANTED], check=False).returncode:
        missing.append(f"could not install {', '.join(WANTED)}")
    if not (place / SOURCE).is_dir():
        name = SOURCE.replace("-", "==")
        subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", str(place), name], check=False)
        archive = place / f"{SOURCE}.tar.gz"
        if archive.exists():
            with tarfile.open(archive) as packed:
                packed.extractall(place, filter="data")
        else:
            missing.append(f"could not download {name}; put {archive.name} into {place} and try again")
    if not missing:
        try:
            with Bridge(place, "MultiAgentTiger-v0") as bridge:
                bridge.start(0)
        except RuntimeError as error:
            missing.append(f"it does not run: {error}")
    return missing


def serve(source: Path) -> None:
    """Answers requests, one a line, until there are no more."""
    answers, sys.stdout = sys.stdout, sys.stderr
    sys.path.insert(0, str(source))
    import posggym

    served = _Served(posggym)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(served, request.pop("do"))(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class _Served:
    """What the other side does."""

    def __init__(self, posggym: Any) -> None:
        self._posggym = posggym
        self._model: Any = None
        self._states: dict[int, Any] = {}
        self._next = 0

    def make(self, id: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._model = self._posggym.make(id, **params).unwrapped.model
        return {}

    def start(self, seed: int | None) -> dict[str, Any]:
        if seed is not None:
            self._model.seed(seed)
        state = self._model.sample_initial_state()
        told = self._model.sample_initial_obs(state)
        return {"handle": self._kept(state), "state": _json(state), "observations": _json(told)}

    def step(self, handle: int, actions: Mapping[str, Any]) -> dict[str, Any]:
        done = self._model.step(self._states[handle], actions)
        return {"handle": self._kept(done.state), **self._described(done)}

    def sample(self, handle: int, actions: Mapping[str, Any], times: int) -> dict[str, Any]:
        state = self._states[handle]
        return {"steps": [self._described(self._model.step(state, actions)) for _ in range(times)]}

    def call(self, method: str, arguments: Sequence[Any]) -> dict[str, Any]:
        return {"result": _json(getattr(self._model, method)(*map(_tuples, arguments)))}

    def _described(self, done: Any) -> dict[str, Any]:
        return {
            "state": _json(done.state),
            "observations": _json(done.observations),
            "rewards": _json(done.rewards),
            "terminated": _json(done.terminations),
            "all_done": bool(done.all_done),
        }

    def _kept(self, state: Any) -> int:
        self._next += 1
        self._states[self._next] = state
        self._states.pop(self._next - MOST_STATES, None)
        return self._next


def _json(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _json(one) for name, one in value._asdict().items()}
    if isinstance(value, dict):
        return {str(name): _json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_json(one) for one in value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (bool, str)) or value is None:
        return value
    return int(value) if isinstance(value, int) else float(value)


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return {name: _tuples(one) for name, one in value.items()} if isinstance(value, dict) else value


def _python(place: Path) -> Path:
    return place / "venv" / "bin" / "python"


def main() -> int:
    """Runs the command line and returns the exit code."""
    parser = argparse.ArgumentParser(description="posggym as an oracle for tests.")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--build", type=Path, metavar="DIR", help="make its environment in this folder")
    way.add_argument("--serve", type=Path, metavar="DIR", help="answer requests; DIR is posggym's source")
    wishes = parser.parse_args()
    if wishes.serve:
        serve(wishes.serve)
        return 0
    missing = build(wishes.build.resolve())
    for one in missing:
        sys.stdout.write(f"missing: {one}\n")
    if not missing:
        sys.stdout.write(f"posggym answers; set {VARIABLE}={wishes.build.resolve()} for the tests\n")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
