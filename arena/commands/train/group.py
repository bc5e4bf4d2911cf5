"""`cwm train`: agents that learn."""

import typer

from arena.commands.train import baseline, curves, on_model, pack, simultaneous, table, team, zero

app = typer.Typer(no_args_is_help=True, help="Train agents that learn.")
app.command("yokai")(baseline.command)
app.command("hanabi")(baseline.command)
app.command("overcooked")(baseline.command)
app.command("posg")(simultaneous.command)
app.command("table")(table.command)
app.command("curves")(curves.command)
app.command("pack")(pack.command)
app.command("ppo")(on_model.command)
app.command("ippo")(team.command)
app.command("alphazero")(zero.command)
