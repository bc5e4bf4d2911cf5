"""In which order tests run, what they keep of JAX's compiling, and the figures that they measure, in one table."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import pytest
from hypothesis import settings

# The same examples in every run, so that a change alone decides whether the tests pass; `make slow` and
# `--hypothesis-profile search` look for new ones.
settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", print_blob=True)
settings.load_profile("fixed")

FIGURES = "figures"
TALLY = "tally"

LONGEST_FILES: Final = (
    *("test_readme", "test_recordings", "test_event_kills", "test_cli_paper", "test_cli_synthesize", "test_disks"),
    *("test_synthesis_kills", "test_evaluation_kills", "test_differential", "test_online_learning"),
)
"""Begin first, so that no process is left alone with one of them at the end."""

TOGETHER: Final = ("tests/arena/papers/cwm/tables/",)
"""Folders whose files share what takes long to make: one process runs them all."""

IN_MEMORY: Final = Path("/dev/shm")
"""Where tests write if there is room: journals wait for the disk after every step."""
ENOUGH_ROOM: Final = 4 << 30
"""Far more bytes than there are at a time: what a test wrote goes with it, if it passes."""
TEMPORARY: Final = "PYTEST_DEBUG_TEMPROOT"
"""Where pytest makes its temporary folders, instead of the system's usual place."""

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

Figures: TypeAlias = Callable[[str, Mapping[str, object]], None]
Tally: TypeAlias = Callable[[str, int, float], None]

COMPILED_QUICKLY: Final = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
"""For XLA: tests compile far longer than they compute. In `make slow`, code is compiled as users' is."""


MUCH_ROOM: Final = 1 << 30

GARBAGE_THRESHOLDS: Final = (10_000, 20, 20)
"""Tracing makes millions of objects and hardly a cycle."""

MIN_COMPILE_TIME: Final = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="count a test, or a file, that is skipped as failed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _unskipped((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _unskipped((yield), collector.config)


def _unskipped(report: Report, config: pytest.Config) -> Report:
    """Returns a report, with `--no-skips` as a failure where it was a skip."""
    if config.getoption("no_skips") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which --no-skips does not allow: {report.longrepr}"
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Has tests write into memory, and JAX compile quickly and keep what it compiles beside pytest's own cache, for the
    next run."""
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ENOUGH_ROOM:
        os.environ.setdefault(TEMPORARY, str(IN_MEMORY))
    if not config.getoption("markexpr").startswith("slow"):
        os.environ.setdefault("XLA_FLAGS", COMPILED_QUICKLY)
    if hasattr(config, "cache"):
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(config.cache.mkdir("jax")))
        # However small: what is dropped after a file is needed again by the next, and by the other process.
        os.environ.setdefault(MIN_COMPILE_TIME, "0")
        if "jax" in sys.modules:  # Where tests are named on the command line, what lies beside them is imported first.
            configure = sys.modules["jax"].config.update
            configure("jax_compilation_cache_dir", os.environ["JAX_COMPILATION_CACHE_DIR"])
            configure("jax_persistent_cache_min_compile_time_secs", float(os.environ[MIN_COMPILE_TIME]))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest files first; all else keeps its order."""
    places = {name: place for place, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Returns what gives whole files, or all files of one of the folders `TOGETHER`, to a process."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByPlace(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.split("::", 1)[0])

    return ByPlace(config, log)


def pytest_collection_finish() -> None:
    """Has garbage collections pass over what was imported and collected, which stays to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


@pytest.fixture(autouse=True, scope="module")
def no_compiled_functions_are_left() -> Iterator[None]:
    """Drops what JAX compiled for the tests of a file where it takes much room: it would take gigabytes by the end."""
    yield
    if "jax" in sys.modules and resident_bytes() > MUCH_ROOM:
        sys.modules["jax"].clear_caches()


def resident_bytes() -> int:
    """Returns how much memory this process holds now; where nobody says so, more than any limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return sys.maxsize
    return pages * os.sysconf("SC_PAGE_SIZE")


NOBODY: Final = 65534
SHOWN_TO_OTHERS: Final = ("games", "search", "cwm", "pyproject.toml", "tests/conftest.py", "tests/hostile")


@dataclass(frozen=True)
class Stranger:
    """Another user of this machine, who may read nothing of ours but a copy.

    Attributes:
        python: an interpreter of this version that everyone may start.
        folder: a copy of the checkout's `SHOWN_TO_OTHERS`, wherever the checkout lies.
    """

    python: str
    folder: Path

    def run(
        self, *words: str, path: tuple[str, ...] = (), home: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Runs the interpreter as that user in the copy.

        Args:
            words: its arguments.
            path: folders to import from, beside the copy.
            home: a folder of the user's own.
        """
        places = {"PYTHONPATH": os.pathsep.join([str(self.folder), *path]), "PATH": os.defpath}
        return subprocess.run(
            [self.python, *words],
            cwd=self.folder,
            env={**places, "HOME": str(home or self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="session")
def stranger() -> Iterator[Stranger]:
    """Another user, with a copy of the code that is there for as long as the session."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become someone else")
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as name:
        for shown in SHOWN_TO_OTHERS:
            to = Path(name, shown)
            to.parent.mkdir(exist_ok=True)
            without = shutil.ignore_patterns("__pycache__")
            if (root / shown).is_dir():
                shutil.copytree(root / shown, to, ignore=without)
            else:
                shutil.copy(root / shown, to)
        for place in (Path(name), *Path(name).rglob("*")):
            place.chmod(0o755 if place.is_dir() else 0o644)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        candidates = (
            os.path.realpath(sys.executable),
            *(f"{place}/{version}" for place in ("/usr/bin", "/usr/local/bin")),
        )
        for python in candidates:
            known = Stranger(python, Path(name))
            try:
                if known.run("-c", "import cwm.sandbox.parent.attacks").returncode == 0:
                    break
            except OSError:
                continue
        else:
            pytest.skip(f"no {version} and no folder for temporary files are open to other users")
        yield known


@pytest.fixture
def ctrl_c_counts() -> Iterator[None]:
    """Has processes that a test starts end at SIGINT, even where the tests began with it ignored, as a shell's
    background jobs do: what is ignored is inherited, a handler is not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Figures:
    """Returns a function (title, figures by name) that has a test's figures shown at the end of the session."""

    def record(title: str, values: Mapping[str, object]) -> None:
        record_property(FIGURES, [title, {name: shown(value) for name, value in values.items()}])

    return record


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Tally:
    """Returns a function (title, breaches, seconds late) for one case of many, which are counted together."""

    def record(title: str, breaches: int, late_s: float) -> None:
        record_property(TALLY, [title, breaches, late_s])

    return record


def shown(value: object) -> str:
    """Returns a figure as text."""
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints the table, if any test measured anything."""
    reports = [report for found in terminalreporter.stats.values() for report in found if hasattr(report, "when")]
    # Set-up, call and tear-down of one test carry the same properties: the call's are taken.
    recorded = [item for report in reports if report.when == "call" for item in report.user_properties]
    tables = table_of(recorded)
    if not tables:
        return
    terminalreporter.section("figures")
    width = max(len(name) for rows in tables.values() for name in rows)
    for title, rows in tables.items():
        terminalreporter.write_line(title)
        for name, value in rows.items():
            terminalreporter.write_line(f"  {name:<{width}}  {value:>14}")


def table_of(recorded: Iterable[tuple[str, Any]]) -> dict[str, dict[str, str]]:
    """Returns the figures by title and name, cases that are counted together last."""
    tables: dict[str, dict[str, str]] = {}
    cases: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for kind, content in recorded:
        if kind == FIGURES:
            tables[content[0]] = dict(content[1])
        elif kind == TALLY:
            cases[content[0]].append((content[1], content[2]))
    for title, found in sorted(cases.items()):
        tables[title] = {
            "cases": shown(len(found)),
            "breaches": shown(sum(breaches for breaches, _ in found)),
            "latest after its limit, seconds": shown(max(0.0, *(late for _, late in found), 0.0)),
        }
    return tables
