"""`cwm posg payoffs`: what each policy of a game gets beside each."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.figures.sheet import Sheet
from arena.posg.payoffs import Payoff, payoff_table
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import AsJson, Seed

MARGIN = 0.05
"""Within this of a published payoff counts as equal."""


def command(
    game: Annotated[str, typer.Argument(help="Id of a game whose folder has policies, e.g. cooperative-reaching.")],
    episodes: Annotated[int, typer.Option("--episodes", min=2, help="Games a pair.")] = 1_000,
    policies: Annotated[
        str,
        typer.Option(
            "--policies",
            help="Names and folders of trained policies, joined by commas; none for all that ship. random is one, too.",
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="File that keeps finished pairs; run again, the rest is played.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Play each policy of a game beside each: what the first gets, and what POSGGym's authors published."""
    names = [name.strip() for name in policies.split(",") if name.strip()]
    with counted_bar("playing pairs") as told:
        table = payoff_table(game, episodes=episodes, seed=seed, names=names, out=out, on_pair=told)
    if as_json:
        console.print_json([asdict(payoff) for payoff in table])
        return
    rows = list(dict.fromkeys(payoff.row for payoff in table))
    sheet = Sheet(f"{game}: mean return of the row, {episodes} games a pair", ["policy"], rows)
    for row in rows:
        sheet.add(row, *(_cell(payoff) for payoff in table if payoff.row == row))
    console.out.print(sheet)
    told_by_both = [payoff for payoff in table if payoff.published is not None]
    if told_by_both:
        near = sum(abs(payoff.mean - (payoff.published or 0.0)) <= MARGIN for payoff in told_by_both)
        console.out.print(
            f"in brackets: published (100 games a pair); {near} of {len(told_by_both)} are within {MARGIN} of that"
        )


def _cell(payoff: Payoff) -> str:
    half = (payoff.high - payoff.low) / 2.0
    beside = "" if payoff.published is None else f" ({payoff.published:.2f})"
    return f"{payoff.mean:.2f} ± {half:.2f}{beside}"
