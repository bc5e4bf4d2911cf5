"""Who may import whom (AST): games import nothing of ours, search and cwm import games alone, arena imports all."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("games", "cwm", "search", "arena")
BESIDE_PLANNERS = ("games.posg.api", "games.posg.best_response", "games.posg.chance", "games.posg.exact")
ALLOWED = {
    "games": {"games"},
    "search": {"search", "games.api", "games.batched.api", "games.batched.wrappers", *BESIDE_PLANNERS},
    "cwm": {"cwm", "games.api", "games.posg.api", "games.posg.chance", "games.posg.exact", "games.posg.serialised"},
    "arena": {"arena", "cwm", "search", "games"},
}
EXCEPTIONS = {
    "cwm/exported.py": {"games.adapters.spiel_game"},  # files of `cwm export` are OpenSpiel games
    "cwm/llm/provider_table.py": {"games.plugins"},  # distributions bring games, agents and providers in one way
}
"""What a module may import besides, and why."""
LOADED_BY_NAME = {
    "cwm/__init__.py": ["arena.face"],  # the public face, when one of its names is first asked for
    "cwm/__main__.py": ["arena.__main__"],  # `python -m cwm` is the command
}
"""The one way up: modules of the arena that what lies below it names in a string, and why."""
NUMPY = ("network_policy",)
"""Of planners, what runs networks by NumPy, and is sent to no worker."""
STANDARD_LIBRARY_ALONE = [
    "games/api.py",
    "games/contract/game.py",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "search").glob("*.py"))),
    *(
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "search" / "posg").glob("*.py"))
        if path.stem not in NUMPY
    ),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "games" / "posg").rglob("*.py"))),
    "cwm/sandbox/worker/worker.py",
    "cwm/sandbox/inside/program.py",
    "cwm/sandbox/inside/joint_checks.py",
    "cwm/sandbox/inside/runner.py",
]


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Every module of the product by its place."""
    paths = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in paths}


def imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            for alias in node.names:
                yield node, f"{node.module}.{alias.name}"


def allowed(name: str, place: str) -> bool:
    prefixes = ALLOWED[place.split("/")[0]] | EXCEPTIONS.get(place, set())
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def test_imports_follow_the_layers(trees: dict[str, ast.Module]) -> None:
    faults = [
        f"{place}:{node.lineno} imports {name}"
        for place, tree in trees.items()
        for node, name in imports(tree)
        if name.split(".")[0] in OURS and not allowed(name, place)
    ]
    assert not faults, "\n".join(["", *faults])


@pytest.mark.parametrize("package", ["games", "search", "cwm"])
def test_nothing_below_the_arena_names_a_module_of_it_but_the_public_face(
    package: str, trees: dict[str, ast.Module]
) -> None:
    named: dict[str, list[str]] = {}
    for place, tree in trees.items():
        for node in ast.walk(tree) if place.startswith(f"{package}/") else ():
            if isinstance(node, ast.Constant) and re.fullmatch(r"arena(\.\w+)+", str(node.value)):
                named.setdefault(place, []).append(node.value)
    assert named == {place: names for place, names in LOADED_BY_NAME.items() if place.startswith(f"{package}/")}


def test_no_first_party_import_stands_inside_a_function(trees: dict[str, ast.Module]) -> None:
    faults = [
        f"{place}:{node.lineno} imports {name}"
        for place, tree in trees.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node, name in imports(function)
        if name.split(".")[0] in OURS
    ]
    assert not faults, "\n".join(["", *faults])


@pytest.mark.parametrize("name", STANDARD_LIBRARY_ALONE)
def test_worker_modules_use_the_standard_library_alone(name: str) -> None:
    for node, imported in imports(ast.parse((ROOT / name).read_text())):
        top = imported.split(".")[0]
        assert top in OURS or top in sys.stdlib_module_names, f"{name}:{node.lineno} imports {imported}"


LEARNERS = ("search/learn", "arena/training", "arena/policy_play", "arena/checkpoints", "games/batched")
"""Know games by the registry alone; so does what lies directly in `games/batched`."""


@pytest.mark.parametrize("folder", LEARNERS)
def test_learners_name_no_game(folder: str) -> None:
    names = {path.parent.name for path in (ROOT / "games").glob("*/RULES.md")}
    every = (ROOT / folder).glob("*.py") if folder == "games/batched" else (ROOT / folder).rglob("*.py")
    for path in every:
        tree = ast.parse(path.read_text())
        for node, name in imports(tree):
            parts = name.split(".")
            assert parts[0] != "games" or not names & set(parts), f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        documented = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                told = [name for name in names if name in node.value]
                assert not told or path.name == "registry.py", f"{path.relative_to(ROOT)}:{node.lineno} names {told[0]}"
