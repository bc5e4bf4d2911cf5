"""`cwm train pack`: trained policies in half the space, to keep or to pass on."""

from pathlib import Path
from typing import Annotated

import typer

from arena import accelerated, console
from arena.errors import UsageError


def command(
    folders: Annotated[list[Path], typer.Argument(help="Folders of trainings or of policies.")],
    out: Annotated[Path, typer.Option("--out", help="Where the packed policies go, each in a folder of its name.")],
) -> None:
    """Copy policies with their parameters as float16; they play as before, but for rounding."""
    checkpoint = accelerated.load("search.learn.checkpoint")
    for folder in folders:
        every = sorted(path.parent for path in folder.rglob(checkpoint.ABOUT))
        every = [policy for policy in every if (policy / checkpoint.POLICY).exists()]
        found = [folder] if folder in every else every
        if not found:
            raise UsageError(f"{folder} holds no policies: give the folder of a finished training, or of one policy.")
        for policy in found:
            place = out / policy.name
            about = checkpoint.load_about(policy)
            checkpoint.save_policy(place, checkpoint.load_policy(policy), about, half=True)
            size = (place / checkpoint.POLICY).stat().st_size
            console.out.print(f"{place}: {size:,} bytes")
