"""Runs the same commands in two checkouts and compares what they print and write, byte for byte, but for masks.

    python tests/compare_trees.py OLD NEW [--only GROUP_OR_NAME,...] [--full] [--demo] [--keep FOLDER]

Only the command line of each tree is used, so that modules may have other places and names in both. The commands stand
in `compared_commands.toml`. What is not compared is printed first. Exit code: 0 all equal, 1 a difference, 2 no such
command. The standard library alone is imported: any Python from 3.11 runs it.
"""

import argparse
import json
import lzma
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import compared_files

COMMANDS: Final = Path(__file__).with_name("compared_commands.toml")
QUICK: Final = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
"""For XLA, as the tests have it: compiling takes far longer than these trainings."""
KEYS: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@dataclass(frozen=True)
class Command:
    """One command that both trees run.

    Attributes:
        group: to choose by.
        name: of its folder, and to choose by.
        words: of the command line, with {out}, {root} and {script} still in them.
        needs: names of commands that come before.
        script: which scripted model it asks, see `write_script`; "" for none.
        full: whether it is run with `--full` alone.
        compared: the one kind of things to compare, see `label`; "" for all.
        code: exit code that it must have, so that two commands that fail alike are not called equal.
        by_clock: files of its folder that are written where it takes long, so that one tree alone may have them.
    """

    group: str
    name: str
    words: tuple[str, ...]
    needs: tuple[str, ...]
    script: str
    full: bool
    compared: str
    code: int
    by_clock: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """A checkout, and where its commands write.

    Attributes:
        root: of the checkout.
        python: that has its dependencies.
        scratch: working folder of its commands.
    """

    root: Path
    python: Path
    scratch: Path


@dataclass(frozen=True)
class Ran:
    """What a command came to: its exit code, and the end of its standard error, which is shown if both differ."""

    code: int
    out: str
    err: str


def commands() -> list[Command]:
    """Returns all commands, one for each game of those that name several."""
    found = []
    for entry in tomllib.loads(COMMANDS.read_text(encoding="utf-8"))["command"]:
        for game in entry.get("each", [""]):
            name, words, script = (entry.get(key, "").replace("{game}", game) for key in ("name", "words", "script"))
            found.append(
                Command(
                    group=entry["group"],
                    name=name,
                    words=tuple(words.split()),
                    needs=tuple(entry.get("needs", ())),
                    script=script,
                    full=entry.get("full", False),
                    compared=entry.get("compared", ""),
                    code=entry.get("code", 0),
                    by_clock=tuple(f"{name}/{file}" for file in entry.get("by_clock", ())),
                )
            )
    return found


def chosen(known: Sequence[Command], only: Sequence[str], full: bool, demo: bool) -> list[Command]:
    """Returns the commands to run, in their order, with those whose folders they read.

    Raises:
        SystemExit: a name is that of no group and no command.
    """
    unknown = set(only) - {command.group for command in known} - {command.name for command in known}
    if unknown:
        sys.exit(f"There is no group and no command {', '.join(sorted(unknown))}: see {COMMANDS.name}.")
    if only:
        wanted = {command.name for command in known if {command.group, command.name} & set(only)}
        wanted -= {command.name for command in known if command.full and not full and command.name not in only}
    else:
        wanted = {one.name for one in known if (full or not one.full) and (demo or full or one.group != "demo")}
    todo = list(wanted)
    while todo:
        (command,) = (one for one in known if one.name == todo[-1])
        todo.pop()
        todo += [name for name in command.needs if name not in wanted]
        wanted |= set(command.needs)
    rest = [command for command in known if command.name in wanted]
    # A command may need one of a later group.
    ordered: list[Command] = []
    while rest:
        ready = next(one for one in rest if set(one.needs) <= {done.name for done in ordered})
        ordered.append(ready)
        rest.remove(ready)
    return ordered


def write_script(old: Path, name: str, path: Path) -> None:
    """Writes the answers of a scripted model: wrong, recorded, then none; for `player`, an illegal move each time.

    Args:
        old: the tree whose recordings are used, on both sides.
        name: of a recording, or `player`.
        path: of the script.
    """
    if name == "player":
        answers = ['{"move": "no such move"}'] * 20
    else:
        file = next(old.glob(f"*/recordings/{name}.jsonl*"))
        data = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
        lines = [json.loads(line) for line in data.decode("utf-8").splitlines()]
        right = next(line["completion"]["text"] for line in lines if "completion" in line)
        code = re.findall(r"```python\n(.*?)```", right, re.DOTALL)[-1]
        wrong = f"```python\n{code}\n\ndef get_rewards(state):\n    return [1.0, 2.0]\n```"
        answers = [wrong, right, *["There is no program in this answer."] * 20]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers), encoding="utf-8")


def run(tree: Tree, command: Command) -> Ran:
    """Runs a command in a tree's scratch folder."""
    places = {"{out}": command.name, "{root}": str(tree.root), "{script}": f"scripts/{command.script}.jsonl"}
    words = [re.sub(r"\{\w+\}", lambda found: places[found[0]], word) for word in command.words]
    own = {
        "PYTHONPATH": str(tree.root),
        "PYTHONHASHSEED": "0",
        "XDG_CACHE_HOME": str(tree.scratch / ".cache"),
        # One for both: what is compiled is found by what is computed.
        "JAX_COMPILATION_CACHE_DIR": str(tree.scratch.parent / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
        "XLA_FLAGS": QUICK,
        "COLUMNS": "200",
    }
    done = subprocess.run(
        [str(tree.python), "-m", "arena", *words],
        cwd=tree.scratch,
        env={key: value for key, value in os.environ.items() if key not in KEYS} | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def label(path: Path) -> str:
    """Returns under which name files of this kind are reported."""
    if path.suffix == ".safetensors":
        return "checkpoints"
    if path.parent.name in ("model", "programs", "inputs", "tables"):
        return path.parent.name
    return path.name if path.suffix == ".json" else "other files"


def written(tree: Tree, command: Command) -> dict[str, dict[str, list[str]]]:
    """Returns the lines of everything a command wrote: by kind, by file or table."""
    found: dict[str, dict[str, list[str]]] = {}
    beside = [tree.scratch / f"{command.name}{suffix}" for suffix in (".jsonl", ".md")]
    for path in sorted([*(tree.scratch / command.name).rglob("*"), *beside]):
        if not path.is_file() or not compared_files.is_read(path):
            continue
        name = str(path.relative_to(tree.scratch))
        if path.suffix == ".sqlite":
            for table, rows in compared_files.database(path):
                kind = {"completions": "requests", "games": "games"}.get(table, "journal")
                found.setdefault(kind, {})[f"{name}:{table}"] = rows
        else:
            found.setdefault(label(path), {})[name] = compared_files.file_lines(path)
    return found


def first_difference(old: Sequence[str], new: Sequence[str]) -> str | None:
    """Returns where two texts part, None if they do not."""
    for number, (left, right) in enumerate(zip(old, new, strict=False), start=1):
        if left != right:
            start = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
            begin = max(0, start - 30)
            return f"line {number}: {left[begin : begin + 100]!r} != {right[begin : begin + 100]!r}"
    return None if len(old) == len(new) else f"{len(old)} lines != {len(new)} lines"


def compare(old: dict[str, list[str]], new: dict[str, list[str]], by_clock: Sequence[str] = ()) -> str | None:
    """Returns the first difference of files of one kind, None if there is none."""
    for name in sorted({*old, *new}):
        if name in old and name in new:
            found = first_difference(old[name], new[name])
            if found is not None:
                return f"{name}, {found}"
        elif name not in by_clock:
            return f"{name}: only in {'NEW' if name in new else 'OLD'}"
    return None


def results(trees: tuple[Tree, Tree], command: Command) -> Iterator[tuple[str, str | None]]:
    """Runs a command in both trees; yields each compared thing, and its first difference."""
    ran = [run(tree, command) for tree in trees]
    told = [{"exit code": [str(one.code)], "printed": compared_files.plain(one.out)} for one in ran]
    difference = compare(*told) if not command.compared else None
    for one in ran:
        if one.code != command.code:
            difference = f"exit code {one.code}, expected {command.code}: {one.err[-300:]!r}"
    yield f"printed, exit code {command.code}, {len(told[0]['printed'])} lines", difference
    old, new = (written(tree, command) for tree in trees)
    for kind in sorted({*old, *new} if not command.compared else {command.compared}):
        files = old.get(kind, {})
        lines = sum(map(len, files.values()))
        yield (
            f"{kind}, {len(files)} files or tables, {lines} lines",
            compare(files, new.get(kind, {}), command.by_clock),
        )


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Compares two trees; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", default="", help="groups or names of commands, with commas")
    parser.add_argument("--full", action="store_true", help="run everything, the demo too")
    parser.add_argument("--demo", action="store_true", help="run the demo too")
    parser.add_argument("--old-python", type=Path, help="default: OLD/.venv/bin/python")
    parser.add_argument("--new-python", type=Path, help="default: NEW/.venv/bin/python")
    parser.add_argument("--keep", type=Path, help="an empty folder that keeps what both trees wrote")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    wanted = chosen(commands(), only, given.full, given.demo)
    say("Masked or not compared:\n" + "\n".join(f"  {line}" for line in compared_files.masks()) + "\n")
    began, different, equal = time.monotonic(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        base = given.keep or Path(folder)
        trees = tuple(
            Tree(root.resolve(), python or root.resolve() / ".venv" / "bin" / "python", base.resolve() / name)
            for name, root, python in (("old", given.old, given.old_python), ("new", given.new, given.new_python))
        )
        for tree in trees:
            tree.scratch.mkdir(parents=True)
            for script in {command.script for command in wanted} - {""}:
                write_script(trees[0].root, script, tree.scratch / "scripts" / f"{script}.jsonl")
        for command in wanted:
            for thing, difference in results((trees[0], trees[1]), command):
                say(f"{'equal  ' if difference is None else 'DIFFERS'} {command.group}/{command.name}: {thing}")
                if difference is None:
                    equal += 1
                else:
                    different.append(f"{command.name}: {difference}")
                    say(f"        {difference}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(
        f"\n{equal} things equal, {len(different)} different; {len(wanted)} commands in both trees, "
        f"{time.monotonic() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
