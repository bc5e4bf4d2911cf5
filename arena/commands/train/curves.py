"""`cwm train curves`: what trained policies reached on the way, alone and with the other seeds."""

from pathlib import Path
from typing import Annotated

import typer

from arena.machine import accelerated
from arena.report import curves as curves_page
from arena.report import learned_tables
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import AsJson, Seed, require_folders
from cwm.storage.files import write_whole


def command(
    folders: Annotated[list[Path], typer.Argument(help="Of trainings with --snapshots, all of one game.")],
    games: Annotated[int | None, typer.Option("--games", min=1, help="Of a seating; the paper has 5000.")] = None,
    seed: Seed = 0,
    greedy: Annotated[bool, typer.Option("--greedy", help="Take each policy's likeliest action.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Also draw the curves into a page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Play policies that were kept on the way with themselves and with the other seeds: R against steps."""
    require_folders(html)
    curves = accelerated.load("arena.policy_play.curves")
    ages = curves.load_all(folders)
    with counted_bar("seatings") as told:
        found = curves.run(ages, games or curves.GAMES, seed, greedy, told)
    if as_json:
        console.print_json(found.to_json())
    else:
        for table in learned_tables.curve_tables(found):
            console.out.print(table)
    if html is not None:
        write_whole(html, curves_page.render(found))
