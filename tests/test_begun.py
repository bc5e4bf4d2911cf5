"""A tournament and two trainings that an earlier commit began are finished as that commit would have done.

They lie in `data/begun`, with the commands that began them. Only the command line is used, so that neither the names of
modules nor their places matter: what is stored has to be enough.
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from safetensors.numpy import load_file

from arena.pipeline import recorded_models

BEGUN: Final = Path(__file__).resolve().parent / "data" / "begun"
EXPECTED: Final = BEGUN / "expected.json"
TIMES: Final = frozenset({"calls_per_s", "latency_s", "seconds", "speed", "steps_per_second"})
"""Fields that hold a time or a speed, wherever they stand."""
ARRIVALS: Final = {
    "tournament/games.sqlite": ("games", "faults"),
}
"""Tables to which a row is added when a piece of work is done. Events are told again, by design."""
KEYS: Final = {
    "completions": ("key", "occurrence"),
    "programs": ("hash",),
    "test_results": ("program", "suite"),
    "evaluations": ("key",),
    "games": ("key",),
    "faults": ("key", "attempt"),
}
TOLERANCE: Final = 1e-4
"""Of parameters and losses. Another processor, or other options of the compiler, adds in another order: 1e-7 in
parameters after these few updates, 1e-6 in losses. To the bit, trees are compared by `compare_trees.py`."""
COMMANDS: Final = {
    "tournament": "arena quadranto --agent cwm:recorded,sims=60 --agent ismcts:sims=60 --agent random --deals 2 "
    "--workers 1 --run {}",
    "training": "train yokai yokai-8c-2p --method sp --scale reduced --encoder mlp --core none --environments 8 "
    "--steps 1536 --out {}",
    "training_on_model": "train ppo --model recorded --game quadranto --seat 1 --seeds 1 --steps 6000 "
    "--environments 10 --hidden 4 --evaluation-games 20 --out {}",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a cache that holds the model with which the work was begun where the recorded one is looked for."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder))
        shutil.copytree(BEGUN / "recorded_quadranto", recorded_models.place_of("quadranto") / "model")
    return folder


def finish(name: str, folder: Path, cache: Path) -> None:
    """Gives the command that finishes a folder, in a process without keys."""
    keys = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    paths = os.pathsep.join(filter(None, [str(BEGUN.parents[2]), os.environ.get("PYTHONPATH")]))
    own = {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-m", "arena", *COMMANDS[name].format(folder).split()],
        cwd=folder.parent,
        env={key: value for key, value in os.environ.items() if key not in keys} | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr


def copied(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(BEGUN / name, tmp_path / name))


def timeless(value: Any) -> Any:
    """Returns JSON without times."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def rows(file: Path, table: str, *, times: bool = False) -> list[dict[str, Any]]:
    """Returns the rows of a table as JSON, columns that hold JSON read."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
        cursor = database.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        found = [{name: read(cell) for name, cell in zip(names, row, strict=True)} for row in cursor]
    found.sort(key=lambda row: json.dumps([row.get(name) for name in ("stream", *KEYS.get(table, ()), "number")]))
    return found if times else [timeless(row) for row in found]


def read(cell: Any) -> Any:
    return json.loads(cell) if isinstance(cell, str) and cell[:1] in ("{", "[") else cell


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def tournament_came_to(folder: Path) -> dict[str, Any]:
    """Returns a tournament's configuration, games and standings, but for times."""
    return {
        "config": json.loads((folder / "tournament.json").read_text()),
        "meta": rows(folder / "games.sqlite", "meta"),
        "games": rows(folder / "games.sqlite", "games"),
        "standings": digest(timeless(json.loads((folder / "standings.json").read_text()))),
    }


def training_came_to(folder: Path) -> dict[str, Any]:
    """Returns what a training wrote: settings and reports as they are, arrays in short."""
    return {
        "settings": json.loads((folder / "training.json").read_text()),
        "reports": {
            str(file.relative_to(folder)): timeless(lines(file)) for file in sorted(folder.rglob("metrics.jsonl"))
        },
        "arrays": {
            str(file.relative_to(folder)): {name: in_short(array) for name, array in sorted(load_file(file).items())}
            for file in sorted(folder.rglob("*.safetensors"))
        },
        "about": {
            str(file.relative_to(folder)): timeless(json.loads(file.read_text()))
            for file in sorted(folder.rglob("config.json"))
        },
    }


def in_short(array: Any) -> list[Any]:
    """Returns an array's type, shape, and what tells it from others; of whole numbers, e.g. random keys, a digest."""
    if array.dtype.kind != "f":
        return [str(array.dtype), list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()]
    values = np.asarray(array, np.float64)
    kept = values.ravel().tolist() if values.size <= 4 else [values.mean(), np.sqrt((values**2).mean())]
    return [str(array.dtype), list(array.shape), [float(value) for value in kept]]


CAME_TO: Final = {
    "tournament": tournament_came_to,
    "training": training_came_to,
    "training_on_model": training_came_to,
}


def assert_alike(found: Any, expected: Any, place: str = "") -> None:
    """Compares JSON: keys, texts and whole numbers exactly, other numbers within `TOLERANCE`."""
    if isinstance(expected, dict) and isinstance(found, dict):
        assert list(found) == list(expected), place
        for key in expected:
            assert_alike(found[key], expected[key], f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        assert len(found) == len(expected), place
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{place}/{number}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE), place
    else:
        assert found == expected, place


def watch(file: Path, tables: Iterable[str]) -> None:
    """Has the database itself note, in the table `again`, every row that arrives for a key that it holds already."""
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE again (what TEXT NOT NULL)")
        for table in tables:
            same = " AND ".join(f"{name} = NEW.{name}" for name in KEYS[table])
            database.execute(
                f"CREATE TRIGGER {table}_again BEFORE INSERT ON {table} "
                f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) "
                f"BEGIN INSERT INTO again VALUES ('{table} ' || NEW.{KEYS[table][0]}); END"
            )
        database.commit()


def stored(file: Path, tables: Iterable[str]) -> dict[str, list[str]]:
    """Returns every row, times and all."""
    return {table: [json.dumps(row) for row in rows(file, table, times=True)] for table in tables}


def assert_nothing_is_done_again(begun: Mapping[str, list[str]], file: Path) -> None:
    """Programs alone arrive again, and the report of the model's tests.

    A program's source is put down before it is asked whether it was tested; the report that is then served from the
    journal is put down with it once more, to no effect.
    """
    models = {row["hash"] for row in rows(file, "programs") if row["kind"] == "model"} if "programs" in begun else ()
    again = {row["what"] for row in rows(file, "again")}
    assert {what for what in again if not what.startswith("programs ")} <= {f"test_results {one}" for one in models}
    ended = stored(file, begun)
    for table, before in begun.items():
        assert set(before) <= set(ended[table]), table


def expected(name: str) -> Any:
    return json.loads(EXPECTED.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("name", ["tournament"])
def test_what_an_earlier_commit_began_is_finished_and_nothing_is_done_again(
    name: str, tmp_path: Path, cache: Path
) -> None:
    folder = copied(name, tmp_path)
    (place,) = (place for place in ARRIVALS if place.startswith(f"{name}/"))
    file, tables = tmp_path / place, ARRIVALS[place]
    begun = stored(file, tables)
    assert any(begun.values())
    watch(file, tables)
    finish(name, folder, cache)
    assert_nothing_is_done_again(begun, file)
    assert json.loads(json.dumps(CAME_TO[name](folder))) == expected(name)


@pytest.mark.parametrize("name", [pytest.param("training", marks=pytest.mark.slow), "training_on_model"])
def test_a_training_that_an_earlier_commit_began_goes_on_where_it_stopped(
    name: str, tmp_path: Path, cache: Path
) -> None:
    folder = copied(name, tmp_path)
    (reports,) = folder.rglob("metrics.jsonl")
    begun = reports.read_text().splitlines()
    finish(name, folder, cache)
    # Times stand in these lines too: an update that was learned anew would not be told in the same words.
    assert reports.read_text().splitlines()[: len(begun)] == begun
    assert_alike(json.loads(json.dumps(CAME_TO[name](folder))), expected(name))


def test_what_is_stored_names_no_module_and_no_machine() -> None:
    modules = re.compile(rb"\b(arena|cwm|search|games)\.[a-z_]+|\b(arena|cwm|search|games)/[a-z_/]+\.py")
    machine = re.compile(rb"/(work|home|root|tmp|Users)/|\bpickle\b")
    files = [file for file in BEGUN.rglob("*") if file.is_file() and file.name != "README.md"]
    assert len(files) > 10
    for file in files:
        content = file.read_bytes()
        assert not modules.search(content), (file, modules.search(content))
        assert not machine.search(content), (file, machine.search(content))


if __name__ == "__main__":
    finished = dict(zip(CAME_TO, map(Path, sys.argv[1:]), strict=True))
    came_to = {name: CAME_TO[name](folder) for name, folder in finished.items()}
    EXPECTED.write_text(json.dumps(came_to, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
