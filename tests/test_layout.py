"""The house explains itself by its folders: imports run one way, a name has one home, worker code is a folder."""

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[1]
LAYOUT: Final[dict[str, Any]] = tomllib.loads((ROOT / "tests" / "layout.toml").read_text(encoding="utf-8"))
ORDER: Final[dict[str, list[str]]] = LAYOUT["packages"]
TOPS: Final = ("games", "search", "cwm", "arena")
MOST_MODULES: Final = 15
MOST_LINES: Final = 400
WORKER_FOLDERS: Final = (
    "cwm/sandbox/wire",
    "cwm/sandbox/lock",
    "cwm/sandbox/inside",
    "cwm/sandbox/worker",
    "search",
    "search/posg",
)
BY_NUMPY: Final = "search.posg.network_policy"
"""Lies beside planners, and is sent to no worker: no planner imports it."""
BESIDE_WORKERS: Final = re.compile(r"games\.(api|contract\.\w+|posg\.(api|best_response|chance|exact))")
DOTTED: Final = re.compile(r"(?:games|search|cwm|arena)(?:\.[A-Za-z_]\w*)+")


@cache
def modules() -> dict[str, Path]:
    """Returns every module of the product by its name."""
    return {name_of(path): path for top in TOPS for path in sorted((ROOT / top).rglob("*.py"))}


@pytest.fixture(scope="module", autouse=True)
def trees_are_dropped() -> Iterator[None]:
    """Else every later garbage collection of the process walks the trees of the whole product."""
    yield
    tree.cache_clear()
    nodes.cache_clear()


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


@cache
def imported(path: Path) -> frozenset[str]:
    """Returns the modules of ours that a module imports."""
    return frozenset(module for node in nodes(path) for module in _modules_of(node))


def _modules_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules())
    elif isinstance(node, ast.ImportFrom) and node.module in modules():
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in modules() else str(node.module)


def package_of(module: str) -> str | None:
    """Returns the place in the order of a module of `cwm` or `arena`, None if it has none."""
    top, _, rest = module.partition(".")
    places = rest.split(".")
    names = (".".join(places[:end]) for end in range(len(places), 0, -1))
    return next((name for name in names if name in ORDER[top]), None)


def of(*tops: str) -> list[Path]:
    return [path for name, path in modules().items() if name.split(".")[0] in tops]


def said(path: Path) -> str:
    return str(path.relative_to(ROOT))


def none_of(faults: list[str]) -> None:
    """Fails with a line for each fault: of a list, pytest would show the first alone."""
    assert not faults, "\n".join(["", *faults])


@cache
def strings(path: Path) -> tuple[str, ...]:
    """Returns a module's strings without its docstrings."""
    documented = {
        id(node.value) for node in nodes(path) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return tuple(
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
    )


# 1. Order.

LOADS_NOTHING: Final = "cwm"
"""Below everything, though its packages are not: it says where the others lie before they are imported."""


def test_imports_between_packages_run_one_way() -> None:
    none_of([fault for path in of("cwm", "arena") for fault in _imports_that_do_not(path)])


def _imports_that_do_not(path: Path) -> Iterator[str]:
    name = name_of(path)
    top, place = name.split(".")[0], package_of(name)
    if place is None and path.name != "__init__.py":
        yield f"{said(path)} lies in no package of tests/layout.toml"
    for module in imported(path) - {LOADS_NOTHING}:
        if place is None:
            yield f"{said(path)} imports {module}, and lies in no package"
        elif module.split(".")[0] == top:
            there = package_of(module)
            if there is None:
                yield f"{said(path)} imports {module}, a folder without modules of its own"
            elif ORDER[top].index(there) > ORDER[top].index(place):
                yield f"{said(path)} imports {module}, which stands higher"


@pytest.mark.parametrize(("top", "place"), [(top, place) for top in ORDER for place in ORDER[top]])
def test_no_package_imports_in_a_circle(top: str, place: str) -> None:
    inside = {name for name in modules() if name.startswith(f"{top}.") and package_of(name) == place}
    left = {name: {other for other in imported(modules()[name]) if other in inside - {name}} for name in inside}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    assert not left


@pytest.mark.parametrize(("top", "place"), [(top, place) for top in ORDER for place in ORDER[top]])
def test_every_place_in_the_order_is_there(top: str, place: str) -> None:
    assert f"{top}.{place}" in modules()


# 2. No flat files.


@pytest.mark.parametrize("top", ORDER)
def test_no_module_lies_flat(top: str) -> None:
    assert sorted(path.name for path in (ROOT / top).glob("*.py")) == sorted(LAYOUT["files_at_the_top"][top])


# 3. Sizes.


def test_a_package_is_small_enough_to_be_read() -> None:
    held = Counter(said(path.parent) for path in of(*TOPS) if path.name != "__init__.py")
    assert [folder for folder in held if held[folder] > LAYOUT["most_modules"].get(folder, MOST_MODULES)] == []


def test_a_module_has_at_most_400_lines() -> None:
    lengths = {said(path): len(source(path).splitlines()) for path in of(*TOPS)}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


@pytest.mark.parametrize("folder", LAYOUT["most_modules"])
def test_a_larger_package_is_needed(folder: str) -> None:
    assert len(list((ROOT / folder).glob("*.py"))) - 1 > MOST_MODULES


# 4. One home for a name.


def test_a_module_hands_on_no_name_of_another() -> None:
    none_of([fault for path in of(*TOPS) for fault in _handed_on(path)])


def _handed_on(path: Path) -> Iterator[str]:
    brought = set()
    for node in tree(path).body:
        if isinstance(node, ast.ImportFrom):
            brought |= {alias.asname or alias.name for alias in node.names}
            if any(alias.name == alias.asname for alias in node.names):
                yield f"{said(path)}:{node.lineno} re-exports"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == "__all__" and path.name != "__init__.py":
                yield f"{said(path)} has __all__"
            if isinstance(node.value, ast.Name) and node.value.id in brought and node.value.id[0].isupper():
                yield f"{said(path)}:{node.lineno} is another name of what lives elsewhere"


@pytest.mark.parametrize("top", TOPS)
def test_a_public_class_has_a_name_of_its_own(top: str) -> None:
    names = Counter(
        node.name
        for path in of(top)
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert sorted(name for name, count in names.items() if count > 1) == []


# 5. Worker code.


@cache
def worker_modules() -> tuple[str, ...]:
    """Returns what may be sent to a worker: folders, and every module that a payload names."""
    inside = {name_of(path) for folder in WORKER_FOLDERS for path in (ROOT / folder).glob("*.py")}
    named = set()
    for path in of("cwm", "arena", "search"):
        for node in tree(path).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and re.fullmatch(
                r"_?(\w+_)?(PAYLOAD|SESSION|PROBE|CORE|MODULE|TOOLS)", target.id
            ):
                constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
                named |= {value for value in constants if isinstance(value, str) and value in modules()}
    return tuple(sorted((inside | named) - {"search", BY_NUMPY}))


def test_worker_code_needs_the_standard_library_alone() -> None:
    none_of([fault for module in worker_modules() for fault in _needed_beside(modules()[module])])


def _needed_beside(path: Path) -> Iterator[str]:
    for node in nodes(path):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.split(".")[0] not in {*TOPS, *sys.stdlib_module_names}:
                yield f"{said(path)} imports {name}"
    for inner in imported(path):
        if inner not in worker_modules() and not BESIDE_WORKERS.fullmatch(inner):
            yield f"{said(path)} imports {inner}"


def test_the_modules_of_every_payload_are_found() -> None:
    assert {"cwm.sandbox.worker.service", "search.session", "cwm.model.many_games"} <= {*worker_modules()}
    assert len(worker_modules()) >= 57


# 6. Names in strings live.


def test_every_module_that_a_string_names_is_there() -> None:
    assert [
        f"{said(path)} names {name!r}" for path in of(*TOPS) for name in strings(path) if _leads_nowhere(name)
    ] == []


def _leads_nowhere(name: str) -> bool:
    place, _, attribute = name.partition(":")
    if not DOTTED.fullmatch(place) or _is_file_name(place):
        return False
    found = _known(place)
    return found is None or bool(attribute and not re.search(rf"\b{attribute}\b", source(modules()[found])))


def _is_file_name(name: str) -> bool:
    return name.rsplit(".", 1)[-1] in {"jsonl", "json", "sqlite", "csv", "html", "md", "parquet", "py", "lock"}


def _known(place: str) -> str | None:
    """Returns the module that a dotted name leads to, itself or with one name in it."""
    if place in modules():
        return place
    module, _, attribute = place.rpartition(".")
    if module not in modules():
        return None
    return module if re.search(rf"\b{attribute}\b", source(modules()[module])) else None


def test_every_pattern_of_kept_games_matches_a_file() -> None:
    spec = find_spec("arena.evaluation.kept_games")
    assert spec is not None
    assert spec.origin is not None
    patterns = [text for text in strings(Path(spec.origin)) if text.endswith(".py")]
    assert len(patterns) >= 4
    for pattern in patterns:
        assert list(ROOT.glob(pattern)), pattern


# 7. Names of test modules.


def test_no_module_of_the_product_is_called_like_a_test() -> None:
    none_of([said(path) for path in of(*TOPS) if path.name.startswith("test_")])
    none_of([said(path) for path in of(*TOPS) for node in nodes(path) if _is_name(node, "__test__")])


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


# 8. Reached by more than tests.


def test_no_module_is_reached_by_tests_alone() -> None:
    begin = ["arena.__main__", "cwm.exported", *(f"{name}" for name in worker_modules())]
    begin += [name for name in modules() if name.startswith("arena.commands.")]
    begin += [name_of(ROOT / path) for path in LAYOUT["reached_otherwise"]]
    begin += [
        name for name in modules() if re.fullmatch(rf"games\.(posg\.)?\w+\.({'|'.join(LAYOUT['found_by_name'])})", name)
    ]
    reached: set[str] = set()
    waiting = [name for name in begin if name in modules()]
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        path = modules()[name]
        named = (_known(text.partition(":")[0]) for text in strings(path) if DOTTED.fullmatch(text.partition(":")[0]))
        waiting += [*imported(path), *filter(None, named)]
    packages = {name for name, path in modules().items() if path.name == "__init__.py"}
    assert sorted(modules().keys() - reached - packages) == []


# 9. A library does not speak the command line.

FLAG: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def test_a_library_names_no_option_of_the_command_line() -> None:
    flags = {
        said(path): sorted({flag for string in strings(path) for flag in FLAG.findall(string)})
        for path in of(*TOPS)
        if not said(path).startswith(("arena/commands/", "arena/terminal/", "arena/cli.py"))
    }
    allowed = LAYOUT.get("flags", {})
    assert {path: named for path, named in flags.items() if named != allowed.get(path, [])} == {}


def test_no_library_knows_the_error_of_a_command() -> None:
    none_of([said(path) for path in of("cwm", "search", "games") if "UsageError" in source(path)])


FACES: Final = ("exported", "face")
"""What others import: modules on top of everything, which nothing stands on."""


def test_storeys_are_few() -> None:
    for top, most in {"arena": 14, "cwm": 6}.items():
        places = [place for place in ORDER[top] if not place.startswith("sandbox.") and place not in FACES]
        assert _storeys(top, places) <= most
    assert _storeys("cwm", [place for place in ORDER["cwm"] if place.startswith("sandbox.")]) <= 4


def test_nothing_imports_a_face() -> None:
    others = [path for path in of(*TOPS) if not said(path).startswith("arena/docs/")]  # pages that show the face
    none_of([said(path) for path in others if imported(path) & {"cwm.exported", "arena.face"}])


def _storeys(top: str, places: list[str]) -> int:
    """Returns how many packages lie above one another at most."""
    needs: dict[str, set[str]] = defaultdict(set)
    for name, path in modules().items():
        place = package_of(name) if name.startswith(f"{top}.") else None
        if place in places:
            needs[place] |= {package_of(other) or place for other in imported(path) if other.startswith(f"{top}.")}
    height: dict[str, int] = {}
    for place in places:
        height[place] = 1 + max(
            (height[other] for other in needs[place] if other in height and other != place), default=0
        )
    return max(height.values())
