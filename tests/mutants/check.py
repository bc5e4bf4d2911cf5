"""Shows that every mutant in this folder dies: `make mutants`.

A mutant is a small wrong change of the product, written down as text: what stands there (`before`, exactly once in the
whole product), what the mutant has instead (`after`), and the tests that must fail on it, by file name and, where part
of a file is enough, pytest's `-k` expression (`only`). So it survives when modules and tests move.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PRODUCT = ("games", "search", "cwm", "arena")
COPIED = (*PRODUCT, "prompts", "tests", "pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile")
PASSED, FAILED = 0, 1
TIMEOUT_S = 600.0


class MutantError(Exception):
    """A mutant does not fit the code or the tests; the message says which, and how."""


@dataclass(frozen=True)
class Named:
    """Some tests.

    Attributes:
        file: end of the path of one file under `tests`, e.g. `test_match.py`.
        only: an expression of pytest's `-k`; "" for the whole file.
    """

    file: str
    only: str = ""

    def place(self, root: Path) -> Path:
        """Returns the file under `root`.

        Raises:
            MutantError: there is none, or more than one.
        """
        found = [path for path in (root / "tests").rglob(Path(self.file).name) if f"/{path}".endswith(f"/{self.file}")]
        if len(found) != 1:
            raise MutantError(f"tests: {self.file!r} names {len(found)} files, expected one.")
        return found[0]


@dataclass(frozen=True)
class Mutant:
    """One change and the tests that must notice it.

    Attributes:
        id: name of its file.
        name: what is wrong with it, a sentence.
        before: text that stands once in the product.
        after: what stands there instead.
        tests: one of these must fail.
    """

    id: str
    name: str
    before: str
    after: str
    tests: tuple[Named, ...]

    def place(self, root: Path) -> Path:
        """Returns the module that is changed.

        Raises:
            MutantError: the text stands nowhere, or in more than one place.
        """
        modules = sorted(path for folder in PRODUCT for path in (root / folder).rglob("*.py"))
        counts = {path: path.read_text(encoding="utf-8").count(self.before) for path in modules}
        if sum(counts.values()) != 1:
            places = ", ".join(str(path.relative_to(root)) for path, count in counts.items() if count) or "nowhere"
            raise MutantError(
                f"{self.id}: {self.before!r} stands {sum(counts.values())} times in the product, expected once "
                f"({places}): mend `before` and `after` in tests/mutants/{self.id}.toml."
            )
        return next(path for path, count in counts.items() if count)

    def changed(self, source: str) -> str:
        """Returns the module's text with the change."""
        return source.replace(self.before, self.after)


def mutants(folder: Path = HERE) -> list[Mutant]:
    """Returns all mutants, by id."""
    read = [(path.stem, tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.toml"))]
    return [
        Mutant(name, data["name"], data["before"], data["after"], tuple(Named(**test) for test in data["tests"]))
        for name, data in read
    ]


def copy_to(folder: Path) -> None:
    """Copies the checkout, without what was built."""
    without = shutil.ignore_patterns("__pycache__", ".*")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=without)
        else:
            shutil.copy(ROOT / name, folder / name)


def tested(root: Path, tests: Named) -> tuple[int, str]:
    """Runs tests on a copy; returns pytest's exit code and the end of what it printed."""
    words = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow"]
    words += [str(tests.place(root)), *(["-k", tests.only] if tests.only else [])]
    # Modules come from the copy, and no bytecode is kept: two versions of a module may be equally long and old.
    places = {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    places |= {
        "JAX_COMPILATION_CACHE_DIR": str(root / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
    }
    try:
        ran = subprocess.run(
            words, cwd=root, env=os.environ | places, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return 124, f"no end after {TIMEOUT_S:g} s"
    return ran.returncode, ran.stdout[-2000:] + ran.stderr[-1000:]


def check_copy(root: Path) -> None:
    """Raises MutantError if Python would import another checkout than the copy."""
    code = "import arena, cwm, games, search; print(*(m.__path__[0] for m in (arena, cwm, games, search)))"
    words = [sys.executable, "-B", "-c", code]
    ran = subprocess.run(words, cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True)
    if not ran.stdout or any(not Path(path).is_relative_to(root) for path in ran.stdout.split()):
        raise MutantError(f"the copy is not what is imported: {ran.stdout}{ran.stderr}")


def pass_unchanged(root: Path, chosen: Sequence[Mutant]) -> list[str]:
    """Returns what is wrong with the tests where nothing was changed."""
    problems = []
    for tests in sorted({tests for mutant in chosen for tests in mutant.tests}, key=str):
        code, output = tested(root, tests)
        if code != PASSED:
            problems.append(f"{tests.file} {tests.only!r} does not pass without a mutant (exit code {code}):\n{output}")
    return problems


def killer(root: Path, mutant: Mutant) -> str | None:
    """Returns the tests that fail on a mutant, None if it lives.

    Raises:
        MutantError: the tests could not be run.
    """
    module = mutant.place(root)
    source = module.read_text(encoding="utf-8")
    module.write_text(mutant.changed(source), encoding="utf-8")
    try:
        for tests in mutant.tests:
            code, output = tested(root, tests)
            if code == FAILED:
                return next(
                    (
                        line.split("::", 1)[1].split(" - ")[0]
                        for line in output.splitlines()
                        if line.startswith("FAILED")
                    ),
                    tests.file,
                )
            if code != PASSED:
                raise MutantError(f"{mutant.id}: {tests.file} ended with exit code {code}:\n{output}")
    finally:
        module.write_text(source, encoding="utf-8")
    return None


def run(ids: Sequence[str]) -> int:
    """Tries mutants and prints what killed each.

    Args:
        ids: of some mutants; none: all.

    Returns:
        0 if all died, 1 if one lives, 2 if something does not fit.
    """
    known = mutants()
    chosen = [mutant for mutant in known if not ids or mutant.id in ids]
    unknown = sorted(set(ids) - {mutant.id for mutant in known})
    lives = []
    try:
        if unknown:
            raise MutantError(f"no mutant is called {', '.join(unknown)}; there are {', '.join(m.id for m in known)}.")
        with tempfile.TemporaryDirectory() as name:
            root = Path(name).resolve()
            copy_to(root)
            check_copy(root)
            problems = pass_unchanged(root, chosen)
            if problems:
                raise MutantError("\n".join(problems))
            _say("All tests named pass without a mutant.")
            for mutant in chosen:
                by = killer(root, mutant)
                lives += [mutant.id] if by is None else []
                _say(f"{mutant.id:<30} {'LIVES: ' + mutant.name if by is None else 'died: ' + by}")
    except MutantError as error:
        _say(f"error: {error}")
        return 2
    _say(
        f"{len(chosen) - len(lives)} of {len(chosen)} mutants died." + (f" Alive: {', '.join(lives)}" if lives else "")
    )
    return 1 if lives else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="names of mutants, without .toml (default: all)")
    sys.exit(run(parser.parse_args().ids))
