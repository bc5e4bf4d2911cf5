"""`cwm train pack`: trained policies in half the space, to keep or to pass on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.machine import accelerated
from arena.terminal import console
from arena.usage import UsageError


def command(
    folders: Annotated[list[Path], typer.Argument(help="Folders of trainings or of policies.")],
    out: Annotated[Path, typer.Option("--out", help="Where the packed policies go, each in a folder of its name.")],
) -> None:
    """Copy policies with their parameters as float16; they play as before, but for rounding."""
    checkpoint = accelerated.load("search.learn.checkpoint")
    for place, policy in _planned(folders, out, checkpoint).items():
        params, about = checkpoint.load_policy(policy), checkpoint.load_about(policy)
        checkpoint.save_policy(place, params, about, half=True)
        size = (place / checkpoint.POLICY).stat().st_size
        console.out.print(f"{place}: {size:,} bytes")


def _planned(folders: Sequence[Path], out: Path, checkpoint: Any) -> dict[Path, Path]:
    """Returns which policy goes where.

    Raises:
        UsageError: a folder holds none, or one would take the place of another.
        CheckpointError: one cannot be read.
    """
    planned: dict[Path, Path] = {}
    for policy in (policy for folder in folders for policy in _policies(folder, checkpoint)):
        place = out / policy.resolve().name
        before = planned.setdefault(place, policy)
        if before.resolve() != policy.resolve():
            raise UsageError(f"{before} and {policy} would both become {place}: pack them into different folders.")
        if (place / checkpoint.ABOUT).exists():
            if place.resolve() == policy.resolve():
                raise UsageError(f"{place} would be replaced by its packed copy: give another folder as --out.")
            if checkpoint.load_about(place) != checkpoint.load_about(policy):
                raise UsageError(f"{place} holds another policy than {policy}: give another folder as --out.")
    return planned


def _policies(folder: Path, checkpoint: Any) -> list[Path]:
    """Returns the folders of policies in a folder, or the folder itself.

    Of one policy, what lies in it is left out; of a training, what was kept of its policies on the way.
    """
    every = sorted(path.parent for path in folder.rglob(checkpoint.ABOUT))
    on_the_way = accelerated.load("arena.training.training_run").SNAPSHOTS
    every = [policy for policy in every if on_the_way not in policy.relative_to(folder).parts]
    every = [policy for policy in every if (policy / checkpoint.POLICY).exists()]
    if not every:
        raise UsageError(f"{folder} holds no policies: give the folder of a finished training, or of one policy.")
    return [policy for policy in every if not set(policy.parents) & set(every)]
