"""`cwm train ippo`: policies that learn to play together on the twin of a cooperative model."""

from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.train import on_twin
from arena.commands.train.baseline import seeds_of, watched_by
from arena.commands.train.on_model import MOST_ENVIRONMENTS, MOST_HIDDEN, is_recorded, model_of
from arena.machine import accelerated
from arena.matches.game_source import in_turns
from arena.runs.origins import true_game
from arena.terminal import console
from arena.terminal.options import MOST_GAMES, AsJson
from arena.usage import UsageError

MOST_POPULATION = 100


def command(
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="Folder of a run whose model has a twin (`cwm twin RUN`), or of the model; `recorded`, with --game: "
            "the one that ships.",
        ),
    ],
    game: Annotated[
        str | None, typer.Option("--game", help="Game of a recorded model; of another, to be sure of it.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="sp: self-play; he: High-Entropy; op: Other-Play; fcp: Fictitious Co-Play; sa: state-augmented.",
        ),
    ] = "sp",
    seeds: Annotated[str, typer.Option("--seeds", help="One policy each, e.g. 0,1,2.")] = "0,1,2",
    steps: Annotated[int, typer.Option("--steps", min=1, help="Environment steps of every policy.")] = 2_500_000,
    environments: Annotated[
        int, typer.Option("--environments", min=8, max=MOST_ENVIRONMENTS, help="Games side by side, for each policy.")
    ] = 128,
    hidden: Annotated[
        int, typer.Option("--hidden", min=1, max=MOST_HIDDEN, help="Width of the network's layers.")
    ] = 64,
    entropy: Annotated[float | None, typer.Option("--entropy", min=0, help="α, the coefficient.")] = None,
    population: Annotated[
        int | None,
        typer.Option("--population", min=1, max=MOST_POPULATION, help="Of fcp: policies to learn with (default 8)."),
    ] = None,
    games: Annotated[
        int, typer.Option("--games", min=0, max=MOST_GAMES, help="Of each pair of them at the end; 0: none.")
    ] = 1000,
    out: Annotated[Path | None, typer.Option("--out", help="Keeps everything; the same command on it goes on.")] = None,
    stop_after: Annotated[
        float | None, typer.Option("--stop-after", min=0, help="Minutes, then the state is kept; the next run goes on.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train policies to play together on a cooperative model's twin; interrupted, the same command goes on."""
    courses = accelerated.load("arena.cooperation_on_twins.course")
    place, bundle = model_of(model, game)
    in_turns(bundle)
    twin = on_twin.twin_of(place, is_recorded(model))[1]
    if entropy is not None and not isfinite(entropy):
        raise UsageError(f"--entropy is {entropy}: give a finite number from 0 on, e.g. 0.05.")
    if population is not None and method != "fcp":
        raise UsageError(f"--population is of the method fcp, not of {method}: leave it out.")
    settings = courses.TeamSettings(method, steps, environments, hidden, entropy, population or 8)
    folder = out or Path("runs") / f"{bundle.info['id']}-{bundle.hash[:8]}-{method}"
    course = courses.TeamCourse(bundle, twin, settings, seeds_of(seeds), folder)
    say = console.notices.print
    say(f"{courses.METHODS[method]} on the twin of {bundle.info['id']}, {steps:,} steps a policy, in {folder}")
    limit = courses.TimeLimit(None if stop_after is None else 60 * stop_after)
    if not watched_by(lambda on_report: course.train(limit, on_report, lambda text: say(text))):
        console.out.print("stopped; the same command goes on")
        return
    places = [folder / name for name in course.names]
    found = on_twin.played(bundle, twin, places, games) if games else None
    if as_json:
        told = {"folder": str(folder), "policies": [str(place) for place in places]}
        console.print_json(told | {"cross_play": None if found is None else found.to_json()})
        return
    if found is not None:
        console.out.print(found.sheet())
    if true_game(bundle) is not None:
        console.out.print(f"play: cwm xp {bundle.info['id']} --agent learned:{places[0]}")
