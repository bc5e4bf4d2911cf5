"""`cwm sandbox run`: one program in the sandbox, one call, and what became of it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_SYSTEM
from arena.terminal import console
from arena.terminal.options import AsJson, Seed
from arena.usage import UsageError
from cwm.sandbox.parent import levels
from cwm.sandbox.parent.host import Sandbox
from cwm.sandbox.wire.api import Limits, Outcome, ProgramSource, Reply
from cwm.sandbox.wire.blame import Ours, blame
from games.api import Json

app = typer.Typer(no_args_is_help=True, help="Programs that are not trusted, by hand.")
INFO: dict[str, Any] = {
    "id": "program",
    "num_players": 1,
    "utility": "general_sum",
    "min_utility": 0.0,
    "max_utility": 1.0,
    "perfect_information": True,
    "has_chance": False,
    "player_names": ["player"],
}


@app.command("run")
def run(
    file: Annotated[Path, typer.Argument(help="Python file with the program.")],
    call: Annotated[str, typer.Option("--call", help="Function of the program that is called.")],
    args: Annotated[str, typer.Option("--args", help="Its arguments, as a JSON list.")] = "[]",
    level: Annotated[
        str | None, typer.Option("--level", help="Isolation level; default: the best that this machine has.")
    ] = None,
    memory_mb: Annotated[int, typer.Option("--memory", min=64, help="Address space, MiB.")] = 512,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Wall-clock seconds.")] = 10.0,
    initial_state: Annotated[str, typer.Option("--initial-state", help="INITIAL_STATE, as JSON.")] = "null",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run one function of a program at a chosen isolation level and print the outcome, the value and the failure."""
    try:
        source = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read ({error}); give a Python file in UTF-8.") from error
    arguments = _json("--args", args)
    if not isinstance(arguments, list):
        raise UsageError(f"--args is {args!r}; it must be a JSON list, e.g. '[1, \"a\"]'.")
    program = ProgramSource(source, _json("--initial-state", initial_state), INFO)
    sandbox = _sandbox(level, Limits(memory_mb=memory_mb, wall_s=seconds))
    with sandbox.start(program, seed) as worker:
        reply = worker.call(call, arguments, seed=seed) if worker.loaded.outcome is Outcome.OK else worker.loaded
        made = _described(reply) | {"level": worker.level, "landlock": worker.landlock}
    if as_json:
        console.print_json(made)
    else:
        for name, value in made.items():
            if value not in (None, ""):
                shown = value if isinstance(value, str) else json.dumps(value)
                console.out.print(f"{name}: {shown}", markup=False)
    if fault := blame(reply):
        raise typer.Exit(EXIT_SYSTEM if isinstance(fault, Ours) else EXIT_NEGATIVE)


def _sandbox(level: str | None, limits: Limits) -> Sandbox:
    try:
        wanted = None if level is None else levels.named(level)
    except ValueError as error:
        raise UsageError(f"--level: {error}.") from error
    if wanted is None:
        levels.ensure(levels.default())
        return Sandbox(limits)
    levels.permit(wanted)
    levels.ensure(wanted)
    return Sandbox(limits, wanted)


def _json(option: str, text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is {text!r}, which is no JSON ({error}).") from error


def _described(reply: Reply) -> dict[str, Any]:
    failure = reply.failure
    return {
        "outcome": reply.outcome.value,
        "value": reply.value,
        "type": None if failure is None else failure.type,
        "message": None if failure is None else failure.message,
        "line": None if failure is None else failure.line,
        "traceback": None if failure is None else failure.traceback,
        "output": reply.output_tail,
        "seconds": round(reply.wall_s, 6),
    }
