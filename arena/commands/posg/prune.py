"""`cwm posg prune`: a population without policies that play like one another."""

from pathlib import Path
from typing import Annotated

import typer

from arena.checkpoints import populations
from arena.figures.sheet import Sheet
from arena.posg import pruning
from arena.terminal import console
from arena.terminal.options import AsJson


def command(
    table: Annotated[Path, typer.Argument(help="What cwm posg payoffs kept in --out.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="File of the population, which types= and --population take.")
    ] = None,
    share: Annotated[
        float,
        typer.Option(
            "--share", min=0.0, max=1.0, help="Policies count as one up to this share of the range of distances."
        ),
    ] = pruning.SHARE,
    as_json: AsJson = False,
) -> None:
    """Keep one policy of each cluster of like rows of a table of payoffs, as POSGGym's authors did."""
    game, payoffs = pruning.read_table(table)
    clusters = pruning.clusters(payoffs, share)
    kept = [cluster[0] for cluster in clusters]
    if out is not None:
        populations.write(out, game, kept)
    if as_json:
        console.print_json({"game": game, "kept": kept, "clusters": clusters})
        return
    sheet = Sheet(f"{game}: {len(kept)} of {sum(map(len, clusters))} policies", ["kept"], ["and those like it"])
    for first, *others in clusters:
        sheet.add(first, ", ".join(others) or "-")
    console.out.print(sheet)
    console.out.print(f"types={'+'.join(kept)}" if out is None else f"types={out}")
