"""`cwm evaluate`: how often a model is right, on games of a file or on fresh ones."""

from pathlib import Path
from typing import Annotated

import typer

from arena import console, run_inputs, shipped
from arena.errors import EXIT_NEGATIVE, UsageError
from arena.game_source import load_bundle
from arena.options import AsJson, Seed, Workers
from arena.report.data import Accuracy
from arena.report.tables import accuracy_table, headline
from arena.run_inputs import Inputs
from arena.run_settings import RunSettings
from arena.synthesis_run import build_options
from arena.true_game import true_game
from cwm import evaluation, trajectory_file
from cwm.evaluation import Evaluation
from cwm.sandbox.host import Sandbox
from cwm.test_execution import RunOptions


def command(
    model: Annotated[Path, typer.Argument(help="Folder of a run, or of a model.")],
    trajectories: Annotated[
        Path | None, typer.Option("--trajectories", help="Played games, JSON lines. Default: fresh held-out games.")
    ] = None,
    transitions: Annotated[int, typer.Option(min=1, help="Fresh games: at least so many transitions.")] = 10_000,
    seed: Seed = 1,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Test a model on played games, per kind of test; errors and time-outs are counted apart from wrong answers."""
    bundle = load_bundle(model)
    info = bundle.game_info
    reference = true_game(bundle)
    inputs = Inputs("", info, bundle.initial_state, (), (), reference)
    if trajectories is not None:
        games = trajectory_file.read(trajectories)
        if games[0].game != info.id:
            raise UsageError(f"{trajectories} holds games of {games[0].game}, the model is of {info.id}.")
    elif reference is None:
        raise UsageError(f"{info.id} is no registered game; give played games with --trajectories FILE.")
    else:
        settings = RunSettings(info.id, True, seed=seed, test_transitions=transitions)
        games = run_inputs.test_games(inputs, settings)
    with console.notices.status(f"testing on {len(games)} games"):
        made = evaluation.evaluate(
            bundle.program(),
            games,
            Sandbox(level=shipped.level_of([bundle.hash])),
            build_options(inputs, bundle.value_source is not None),
            RunOptions(workers=workers, seed=seed),
        )
    if as_json:
        console.print_json(made.to_json() | {"games": len(games), "model": bundle.hash})
    else:
        split = "fresh" if trajectories is None else trajectories.name
        console.out.print(accuracy_table(_rows(made, split)))
        console.out.print(
            f"{len(games)} games, {made.transitions} transitions, {made.distinct_states} distinct states; "
            f"sandbox level {made.level}"
        )
    if made.failed:
        for result in made.failed[:5]:
            console.notices.print(f"{result.id}: {result.field}: {result.message}")
        raise typer.Exit(EXIT_NEGATIVE)


def _rows(made: Evaluation, split: str) -> list[Accuracy]:
    """Returns a row a kind, one for the final scores, and one for each field with a failure."""
    tallies = {**made.kinds, **{Accuracy.field_of(name): tally for name, tally in made.fields.items()}}
    rows = [Accuracy.of(split, name, tally.to_json()) for name, tally in tallies.items()]
    shown = headline(rows)
    return shown + [row for row in rows if row.is_field and row.passed < row.total and row not in shown]
