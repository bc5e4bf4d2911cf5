"""`cwm export`: a model as an importable OpenSpiel game file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.exports.open_spiel import export
from arena.matches.game_source import in_turns, load_bundle
from arena.terminal import console
from arena.usage import UsageError
from cwm.storage.files import write_whole


def command(
    model: Annotated[Path, typer.Argument(help="Folder of a run, or of a model.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Python file to write.")],
    name: Annotated[str | None, typer.Option(help="OpenSpiel's short name; default cwm_GAME.")] = None,
    in_process: Annotated[
        bool,
        typer.Option(
            "--in-process",
            help="Run the program in the importing process: tens of times as many games a second, and not contained at "
            "all.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a file that registers the model as an OpenSpiel game when it is imported."""
    made = export(in_turns(load_bundle(model)), name, in_process)
    if not output.parent.is_dir():
        raise UsageError(f"There is no folder {output.parent}; make it first.")
    if not write_whole(output, made.text, replace=force):
        raise UsageError(f"{output} is there already; give another name, or --force to replace it.")
    console.notices.print(f'{output} written: import it, then pyspiel.load_game("{made.short_name}")')
