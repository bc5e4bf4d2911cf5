"""`cwm train posg`: policies of games of simultaneous moves, from best responses to whole populations."""

from pathlib import Path
from typing import Annotated

import typer

from arena.checkpoints import populations
from arena.checkpoints.methods import RESPONSES
from arena.commands.train.baseline import MOST_ENVIRONMENTS, given, seeds_of, watched
from arena.machine import accelerated
from arena.terminal import console

MOST_POLICIES = 20
"""Levels or runs that are trained side by side."""


def command(
    game: Annotated[str, typer.Argument(help="A batched game of simultaneous moves, e.g. cooperative-reaching.")],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="br: a best response to --population; klr: levels of reasoning above a random one; sp-br: runs of "
            "self-play; the latter two end with a best response to all of them.",
        ),
    ] = "br",
    population: Annotated[
        str,
        typer.Option(
            "--population",
            help="br: co-players joined by +, one drawn for every game: names of policies of the game, random, folders "
            "of trained ones, and populations, e.g. H1+H2+runs/klr/klr2-s0, or P0.",
        ),
    ] = "",
    levels: Annotated[int | None, typer.Option("--levels", min=1, max=MOST_POLICIES, help="klr: levels; 4.")] = None,
    runs: Annotated[int | None, typer.Option("--runs", min=1, max=MOST_POLICIES, help="sp-br: runs; 5.")] = None,
    seat: Annotated[
        int | None, typer.Option("--seat", min=0, help="br: the learner's agent, where a game's agents differ.")
    ] = None,
    scale: Annotated[
        str, typer.Option("--scale", help="paper: networks and settings of POSGGym's; reduced: for processors.")
    ] = "paper",
    seeds: Annotated[str, typer.Option("--seeds", help="One policy each, or one population, e.g. 0,1,2.")] = "0",
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Environment steps of each policy.")] = None,
    environments: Annotated[
        int | None, typer.Option("--environments", min=1, max=MOST_ENVIRONMENTS, help="Games at once.")
    ] = None,
    entropy: Annotated[float | None, typer.Option("--entropy", min=0, help="The coefficient.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Keeps everything; the same command on it goes on.")] = None,
    stop_after: Annotated[
        float | None,
        typer.Option("--stop-after", min=0, help="Minutes, then the state is kept; the same command goes on from it."),
    ] = None,
) -> None:
    """Train policies of a game of simultaneous moves; interrupted or stopped, the same command goes on to the bit."""
    settings = accelerated.load("arena.training.simultaneous")
    recipes = accelerated.load("arena.training.recipes")
    trainings = accelerated.load("arena.training.method_training")
    names = populations.expanded(game, [name.strip() for name in population.split("+") if name.strip()])
    recipe = settings.recipe(game, method, scale, partners=names, levels=levels, runs=runs, seat=seat)
    recipe = recipes.adapted(recipe, {}, given(total_steps=steps, environments=environments, entropy=entropy))
    folder = out or Path("runs") / f"{game}-{method}-{scale}"
    plan = trainings.TrainingPlan(recipe, seeds_of(seeds), folder)
    console.notices.print(f"{RESPONSES[method]} on {game}, {recipe.ppo.total_steps:,} steps a policy, in {folder}")
    if not watched(trainings, plan, None if stop_after is None else 60 * stop_after):
        console.out.print("stopped; the same command goes on")
        return
    ends = [path for seed in plan.seeds for path in sorted(folder.glob(f"{method.partition('-')[0]}*-s{seed}"))]
    for path in ends:
        console.out.print(f"{path}")
    console.out.print(f"play: cwm posg payoffs {game} --policies {','.join(map(str, ends))}")
