"""`cwm trajectories`: play games of a registered game and record every step; check a file of one's own."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from arena import accelerated, console
from arena.options import AsJson, Seed
from cwm import trajectory_file
from cwm.trajectories import Trajectory, collect, write
from games import registry

app = typer.Typer(no_args_is_help=True, help="Record games as JSON lines, or check a file of recorded games.")


@app.command()
def record(
    game: Annotated[str, typer.Argument(help="Id of a game; `cwm games list` shows them.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    games: Annotated[int, typer.Option("--games", min=1, help="How many games.")] = 5,
    seed: Seed = 0,
    batched: Annotated[
        bool, typer.Option("--batched", help="Play Yōkai's games side by side in JAX; for thousands of them.")
    ] = False,
) -> None:
    """Play uniformly random games and write one JSON line a step."""
    steps = 0

    def counted(trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
        nonlocal steps
        for trajectory in trajectories:
            steps += len(trajectory.steps)
            yield trajectory

    if batched:
        played: Iterable[Trajectory] = accelerated.load("arena.bulk_recording").record(game, games, seed)
    else:
        played = collect(registry.make(game), games, seed)
    write(output, counted(played))
    console.notices.print(f"{games} games of {game}, {steps} steps, written to {output}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="File of JSON lines, one a step.")],
    as_json: AsJson = False,
) -> None:
    """Check a file against the schema and say what was read; problems are named with their lines."""
    trajectories = trajectory_file.read(file)
    info = trajectory_file.infer_info(trajectories)
    summary = {
        "game": info.id,
        "games": len(trajectories),
        "steps": sum(len(trajectory.steps) for trajectory in trajectories),
        "players": info.num_players,
        "payoffs": info.utility,
        "perfect_information": info.perfect_information,
        "has_chance": info.has_chance,
        "returns": [info.min_utility, info.max_utility],
    }
    if as_json:
        console.print_json(summary)
        return
    for name, value in summary.items():
        console.out.print(f"{name.replace('_', ' ')}: {value}")
