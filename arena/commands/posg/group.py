"""`cwm posg`: measurements of games of simultaneous moves."""

from contextlib import nullcontext
from typing import Annotated

import typer

from arena.benchmarks import posg_speed
from arena.benchmarks.measurement import Measurement, machine, table
from arena.commands.posg import beliefs, matrix, payoffs, prune
from arena.terminal import console
from arena.terminal.options import AsJson
from games.posg import registry

app = typer.Typer(no_args_is_help=True, help="Measure planners and populations of games of simultaneous moves.")
app.command("payoffs")(payoffs.command)
app.command("prune")(prune.command)
app.command("beliefs")(beliefs.command)
app.command("matrix")(matrix.command)


@app.callback()
def group() -> None:
    """Measure planners and populations of games of simultaneous moves."""


@app.command()
def speed(
    games: Annotated[list[str] | None, typer.Argument(help="Ids of games; default: all of simultaneous moves.")] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.01, max=60.0, help="A decision, and of stepping.")] = 0.3,
    steps: Annotated[int, typer.Option("--steps", min=1, max=1000, help="First steps of a game, searched.")] = 6,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=100, help="Times that each is measured.")] = 3,
    beside: Annotated[
        str | None,
        typer.Option("--beside", help="A command that times another package: tests/oracle/posggym_speed.py says how."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Steps and simulations a second of CPU time, beliefs by rejection as published; beside another package in turn."""
    settings = posg_speed.SpeedSettings(seconds, steps, rounds)

    def tell(one: Measurement) -> None:
        console.notices.print(f"{one.name}: {0 if one.value is None else one.value:,.0f} {one.unit}")

    with nullcontext() if beside is None else posg_speed.OtherPackage(beside) as other:
        found = posg_speed.measure(games or registry.ids(), settings, other, tell)
    if as_json:
        console.print_json({"machine": machine(), "measurements": [one.to_json() for one in found]})
        return
    console.out.print(table(found))
    console.out.print(machine())
