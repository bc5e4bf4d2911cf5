"""Builds the wheel and uses it as somebody would who never saw the checkout: `make wheel-test`.

The wheel goes into an environment of its own that holds nothing else. The demo and the README's example are run there
in a folder that holds a folder `games/` of the user's own, first with files alone, then as a package of that name.
"""

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLE = HERE / "example.py"
ROWS = 9
"""What the example prints: one row for each agent of six lineups, three of which have one agent twice."""


def run(*command: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs a command as it is run outside any checkout, and shows it."""
    sys.stdout.write(f"$ {' '.join(map(str, command))}\n")
    sys.stdout.flush()
    strange = ("PYTHONPATH", "PYTHONSAFEPATH", "VIRTUAL_ENV")
    outside = {name: value for name, value in os.environ.items() if name not in strange}
    outside["XDG_CACHE_HOME"] = str(folder / "cache")
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, env=outside, capture_output=True, text=True, check=False)


def succeed(*command: object, folder: Path) -> str:
    """Returns what a command prints; ends the check where it fails."""
    ran = run(*command, folder=folder)
    if ran.returncode:
        sys.exit(f"exit code {ran.returncode}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    return ran.stdout


def installed(folder: Path) -> Path:
    """Builds the wheel, installs it alone, and returns the folder of the environment's programs."""
    succeed(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, folder=ROOT)
    (wheel,) = folder.glob("*.whl")
    succeed(sys.executable, "-m", "venv", folder / "env", folder=folder)
    programs = folder / "env" / "bin"
    succeed(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, folder=folder)
    return programs


def readme_holds_the_example() -> None:
    """Ends the check if the README shows another program than the one that is run."""
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    shown = [ast.dump(ast.parse(block.split("```")[0])) for block in blocks]
    program = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    program.body.pop(0)  # what the file is
    if ast.dump(program) not in shown:
        sys.exit(f"no Python block of README.md is the program of {EXAMPLE.relative_to(ROOT)}: make them the same.")


def check(folder: Path) -> None:
    """Runs everything; ends at the first thing that does not hold."""
    readme_holds_the_example()
    programs = installed(folder)
    mine = folder / "mine"
    (mine / "games").mkdir(parents=True)
    (mine / "games" / "monday.jsonl").write_text("")
    example = mine / "example.py"
    example.write_text(EXAMPLE.read_text(encoding="utf-8"))
    where = succeed(programs / "python", "-P", "-c", "import games; print(games.__file__)", folder=mine)
    if not Path(where.strip()).is_relative_to(folder / "env"):
        sys.exit(f"games was imported from {where.strip()}, not from the environment.")

    shown = succeed(programs / "cwm", "demo", "tic_tac_toe", folder=mine)
    if not list(mine.rglob("report.html")):
        sys.exit(f"the demo wrote no report.html:\n{shown}")
    table = succeed(programs / "python", example, folder=mine)
    if len(table.splitlines()) != ROWS:
        sys.exit(f"the example printed other than {ROWS} rows:\n{table}")

    # A package beside a script comes before all that is installed, but for what cwm needs of its own.
    (mine / "games" / "__init__.py").write_text("")
    succeed(programs / "cwm", "games", "show", "tic_tac_toe", folder=mine)
    succeed(programs / "python", "-m", "cwm", "games", "show", "tic_tac_toe", folder=mine)
    if succeed(programs / "python", example, folder=mine) != table:
        sys.exit("the example prints something else beside a package of the user's own called games.")
    sys.stdout.write("The wheel works on its own, beside a folder games/ of the user's.\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        check(Path(name).resolve())
