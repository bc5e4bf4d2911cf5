"""`cwm train alphazero`: one policy for both seats of a model, by searches on its twin."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.train.on_model import MOST_ENVIRONMENTS, MOST_HIDDEN, Notices
from arena.commands.train.on_twin import twin_of
from arena.figures import formatting
from arena.machine import accelerated
from arena.matches.game_source import MODEL_PREFIX
from arena.runs.origins import true_game
from arena.terminal import console
from arena.terminal.options import AsJson
from arena.usage import UsageError


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run whose model has a twin (`cwm twin RUN`).")],
    steps: Annotated[int, typer.Option("--steps", min=1, help="Decisions in games with itself.")] = 10_000_000,
    simulations: Annotated[int, typer.Option("--simulations", min=1, max=10_000, help="Of a decision's search.")] = 32,
    environments: Annotated[
        int, typer.Option("--environments", min=10, max=MOST_ENVIRONMENTS, help="Games side by side.")
    ] = 200,
    hidden: Annotated[
        int, typer.Option("--hidden", min=1, max=MOST_HIDDEN, help="Width of the network's layers.")
    ] = 256,
    evaluation: Annotated[
        int, typer.Option("--evaluation-games", min=1, help="Of each seat against random players, at the end.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Everything random derives from it.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder that keeps everything; the same command on it goes on.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train a policy for both seats by AlphaZero, its searches on a model's twin: for games of perfect information."""
    course = accelerated.load("arena.training_on_twins.zero_course")
    if environments % 2:
        raise UsageError(
            f"--environments is {environments}: an update's decisions fall into 20 parts; give an even number."
        )
    bundle, twin = twin_of(run)
    folder = out or Path("runs") / f"alphazero-{bundle.info['id']}-{bundle.hash[:8]}"
    task = course.ZeroTask(steps, environments=environments, simulations=simulations, hidden=hidden)
    console.notices.print(f"{bundle.info['id']}: training on its twin in {folder}; the same command goes on")
    found, clock = course.train(bundle, twin, task, seed, folder, evaluation, Notices())
    if as_json:
        seats = [item.to_json() for item in found]
        console.print_json({"folder": str(folder), "seats": seats, "speed": clock.to_json()})
        return
    for seat, item in enumerate(found):
        console.out.print(
            f"seat {seat}: {item.wins:.1%} won, {item.losses:.1%} lost, mean return {item.mean_return:+.3f} over "
            f"{item.games:,} games against random players, without search"
        )
    if clock.steps:
        console.out.print(f"{formatting.steps_a_second(clock.steps / clock.total)} with their searches and updates")
    table = f"{MODEL_PREFIX}{run}" if true_game(bundle) is None else bundle.info["id"]
    console.out.print(f"play: cwm arena {table} --agent learned:{folder},greedy=true --agent random")
