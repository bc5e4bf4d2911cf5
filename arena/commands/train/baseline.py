"""`cwm train yokai`, `hanabi` and `overcooked`: baselines in batched games, from IPPO to Off-Belief Learning."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.checkpoints.methods import TITLES
from arena.figures import formatting
from arena.machine import accelerated
from arena.terminal import console
from arena.terminal.bar import worded_bar
from arena.usage import UsageError
from games.batched import registry

OVERCOOKED = "overcooked-v2-"
"""Such games are not for the table: a paper's matrix plays their policies."""
MOST_SEED = 999_999
"""Seeds of stages and of populations are made from a policy's, and must all fit 32 bits."""
MOST_ENVIRONMENTS = 1 << 20
MOST_SNAPSHOTS = 50
MOST_MEMBERS = 1000
"""Members of a population have the seeds from 1000 times that of its policy on."""


def command(
    game: Annotated[
        str,
        typer.Argument(
            help="A batched game, e.g. yokai-9c-2p or the reduced yokai-8c-2p, hanabi-2p or hanabi-tiny-2p, "
            "overcooked-v2-cramped-room or, with options, overcooked-v2-cramped-room,sight=2,delivery=signal."
        ),
    ],
    method: Annotated[str, typer.Option("--method", help=f"What to train for: {', '.join(TITLES)}.")] = "sp",
    scale: Annotated[
        str, typer.Option("--scale", help="paper: the paper's network and settings; reduced: for processors.")
    ] = "paper",
    seeds: Annotated[str, typer.Option("--seeds", help="One policy each, e.g. 0,1,2; sa needs two.")] = "0",
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Environment steps of each policy.")] = None,
    memory: Annotated[
        bool | None,
        typer.Option("--memory/--no-memory", help="Show what a player saw before; default: where the game can."),
    ] = None,
    level: Annotated[int, typer.Option("--level", min=1, max=5, help="Of Off-Belief Learning.")] = 1,
    exact: Annotated[
        bool, typer.Option("--exact-belief", help="obl: level 1 draws from the exact belief about random players.")
    ] = False,
    population: Annotated[
        int | None,
        typer.Option("--population", min=1, max=MOST_MEMBERS, help="fcp: self-play policies, each at three ages; 8."),
    ] = None,
    encoder: Annotated[str | None, typer.Option("--encoder", help="cnn, mlp, gatv2, gcn or relation.")] = None,
    core: Annotated[str | None, typer.Option("--core", help="gru, lstm, transformer_xl, rnn or none.")] = None,
    pointing: Annotated[
        bool, typer.Option("--pointing", help="Score actions by what they point at, as at the reduced scale.")
    ] = False,
    extra_layers: Annotated[int | None, typer.Option("--extra-layers", min=0, max=16, help="+1HL, +2HL.")] = None,
    environments: Annotated[
        int | None, typer.Option("--environments", min=1, max=MOST_ENVIRONMENTS, help="Games at once.")
    ] = None,
    entropy: Annotated[float | None, typer.Option("--entropy", min=0, help="α, the coefficient.")] = None,
    bfloat16: Annotated[bool, typer.Option("--bfloat16", help="Compute in bfloat16.")] = False,
    accumulate: Annotated[int | None, typer.Option("--accumulate", min=1, help="Pieces of a minibatch.")] = None,
    devices: Annotated[
        int,
        typer.Option(
            "--devices", min=1, help="Accelerators that share the games; another number draws other minibatches."
        ),
    ] = 1,
    snapshots: Annotated[
        int,
        typer.Option(
            "--snapshots", min=0, max=MOST_SNAPSHOTS, help="Keep policies at so many equal steps, for cwm train curves."
        ),
    ] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Keeps everything; the same command on it goes on.")] = None,
    stop_after: Annotated[
        float | None,
        typer.Option(
            "--stop-after",
            min=0,
            help="Minutes, then the state is kept and the next run goes on, to the same bits. No piece, a 200th of a "
            "training and at least one update, is begun that would take longer; the first is compiled and done anyway.",
        ),
    ] = None,
) -> None:
    """Train baselines in the batched game; interrupted or stopped, the same command goes on to the bit."""
    recipes = accelerated.load("arena.training.recipes")
    runs = accelerated.load("arena.training.method_training")
    remembers = registry.MEMORY in registry.describe(game).views if memory is None else memory
    recipe = recipes.recipe(game, method, scale, remembers, level)
    if entropy is not None and not isfinite(entropy):
        raise UsageError(f"--entropy is {entropy}: give a finite number from 0 on, e.g. 0.05.")
    ppo = given(total_steps=steps, environments=environments, entropy=entropy, accumulate=accumulate)
    network = given(encoder=encoder, core=core, extra_layers=extra_layers, bfloat16=bfloat16 or None)
    recipe = recipes.adapted(recipe, network, ppo, pointing, **_own(method, level, exact, population))
    folder = out or Path("runs") / f"{game}-{recipe.name}-{scale}"
    plan = runs.TrainingPlan(recipe, seeds_of(seeds), folder, devices, snapshots)
    console.notices.print(f"{TITLES[method]} on {game}, {recipe.ppo.total_steps:,} steps a policy, in {folder}")
    if watched(runs, plan, None if stop_after is None else 60 * stop_after):
        for seed in plan.seeds:
            console.out.print(f"{folder / f'{recipe.name}-s{seed}'}")
        if game.startswith(OVERCOOKED):
            console.out.print(f"play: cwm paper --paper overcooked --run {folder}")
        else:
            console.out.print(f"play: cwm xp {game} --checkpoint {folder / f'{recipe.name}-s{plan.seeds[0]}'}")
        if snapshots:
            kept = any((folder / accelerated.load("arena.training.training_run").SNAPSHOTS).glob("*"))
            late = "no policies were kept on the way: the training had been there before; begin it in another folder"
            console.notices.print(f"curves: cwm train curves {folder}" if kept else late)
    else:
        console.out.print("stopped; the same command goes on")


def given(**settings: Any) -> dict[str, Any]:
    """Returns the settings that were given."""
    return {name: value for name, value in settings.items() if value is not None}


def _own(method: str, level: int, exact: bool, population: int | None) -> dict[str, Any]:
    """Returns the settings of a method that were given.

    Raises:
        UsageError: they are of another method.
    """
    beyond_first = level > 1
    for option, is_given, of in (
        ("--level", beyond_first, "obl"),
        ("--exact-belief", exact, "obl"),
        ("--population", population, "fcp"),
    ):
        if is_given and method != of:
            raise UsageError(f"{option} is of the method {of}, not of {method}: leave it out.")
    return given(exact_belief=exact or None, population=population)


def seeds_of(text: str) -> tuple[int, ...]:
    """Parses seeds, e.g. `0,1,2`.

    Raises:
        UsageError: they are no different whole numbers, or too large.
    """
    parts = [part.strip() for part in text.split(",")]
    seeds = tuple(int(part) for part in parts if part.isdecimal() and len(part) <= len(str(MOST_SEED)))
    if len(set(seeds)) < len(parts):
        raise UsageError(f"--seeds is {text!r}: give different whole numbers from 0 to {MOST_SEED}, e.g. 0,1,2.")
    return seeds


def watched(runs: Any, plan: Any, stop_after: float | None) -> bool:
    """Trains with a line that says how far it is; returns whether it finished."""
    return watched_by(lambda on_report: runs.train(plan, stop_after, on_report))


def watched_by(train: Callable[[Callable[[Any], None]], Any]) -> bool:
    """Trains, telling what is reported in a line; returns whether it finished."""
    with worded_bar("steps", "compiling") as show:

        def on_report(standing: Any) -> None:
            first = standing.reports[0]
            words = f"{standing.stage}: " if standing.stage else ""
            words += f"{standing.steps:,} of {standing.total:,}, "
            words += formatting.steps_a_second(standing.steps_per_second)
            if first.get("R") is not None:
                words += f", R {first['R']:.2f}"
            if first.get("return") is not None:
                words += f", return {first['return']:.2f}"
            if first.get("cross_entropy") is not None:
                words += f", cross-entropy {first['cross_entropy']:.3f}"
            show(standing.steps, standing.total, words)

        return bool(train(on_report))
