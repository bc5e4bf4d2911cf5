"""`cwm games`: list the games, print the rules, show a random game."""

import dataclasses
from typing import Annotated

import typer
from rich.table import Table

from arena import console
from arena.options import AsJson, Seed
from cwm.trajectories import collect
from games import registry
from games.api import CHANCE, TERMINAL, RendersText

app = typer.Typer(no_args_is_help=True, help="List the games, print their rules, show a random game.")
GameId = Annotated[str, typer.Argument(help="Id of a game; `cwm games list` shows them.")]


@app.command("list")
def list_games(as_json: AsJson = False) -> None:
    """List the registered games."""
    infos = [registry.make(game_id).info for game_id in registry.ids()]
    if as_json:
        console.print_json([dataclasses.asdict(info) for info in infos])
        return
    table = Table("id", "players", "payoffs", "information", "returns", "views")
    for info in infos:
        table.add_row(
            info.id,
            str(info.num_players),
            info.utility.replace("_", " "),
            "perfect" if info.perfect_information else "imperfect",
            f"{info.min_utility:g} … {info.max_utility:g}",
            ", ".join(info.views),
        )
    console.out.print(table)


@app.command()
def rules(game: GameId) -> None:
    """Print the rules of a game, as a language model gets them."""
    console.out.print(registry.rules(game))


@app.command()
def show(game: GameId, seed: Seed = 0, as_json: AsJson = False) -> None:
    """Play one uniformly random game and show every step."""
    made = registry.make(game)
    trajectory = collect(made, 1, seed)[0]
    if as_json:
        console.print_json(list(trajectory.to_records()))
        return
    state = made.initial_state()
    for number, step in enumerate(trajectory.steps):
        who = made.info.player_name(step.player)
        if step.player != CHANCE and isinstance(made, RendersText):
            console.out.print(made.render(state))
        if step.player == TERMINAL or step.action is None:
            break
        console.out.print(str(number), style="bold", end=" ")
        console.out.print(f"{who}: {step.action}")
        state = made.apply_action(state, step.action)
    console.out.print("returns: " + ", ".join(f"{value:g}" for value in trajectory.returns))
