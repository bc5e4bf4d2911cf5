"""`cwm evaluate`: how often a model is right on games of a file or on fresh ones, and whether it keeps the contract."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_SYSTEM
from arena.evaluation import evaluation_run
from arena.evaluation.evaluation_run import EvaluationWishes
from arena.evaluation.held_out_games import MIN_ENDS
from arena.pipeline import recorded_models
from arena.report import suite
from arena.report.data import Accuracy
from arena.report.tables import accuracy_table, headline
from arena.runs.hidden_information import LIKELIHOOD
from arena.terminal import console
from arena.terminal.options import AsJson, Seed, Workers
from cwm.suite.likelihood import LikelihoodBound


def command(
    model: Annotated[
        Path,
        typer.Argument(help="Folder of a run, or of a model, or a recording that ships, such as hanabi-2p-s1."),
    ],
    trajectories: Annotated[
        Path | None, typer.Option("--trajectories", help="Played games, JSON lines. Default: fresh held-out games.")
    ] = None,
    transitions: Annotated[
        int,
        typer.Option(
            min=1,
            help=f"Fresh games: at least so many transitions, and of a cooperative game {MIN_ENDS} wins and as many "
            f"losses, or {MIN_ENDS} of each of the ends that it names, unless fewer than {MIN_ENDS} are asked for.",
        ),
    ] = 10_000,
    contract_games: Annotated[
        int,
        typer.Option(
            "--contract-games",
            min=0,
            help="Random games under the contract of every game; 0 leaves it out. A broken rule is named, with the "
            "smallest state that shows it; the exit code is 1, as for a test that fails.",
        ),
    ] = 8,
    mutants: Annotated[
        int,
        typer.Option(
            "--mutants",
            min=0,
            help="Break the model in so many small ways and say which its unit tests catch, and which of its branches "
            "they reach; 0 leaves it out. The tests are made from the games that it was made from, or from those of "
            "--trajectories.",
        ),
    ] = 0,
    posterior: Annotated[
        int,
        typer.Option(
            "--posterior",
            min=0,
            help="Draw so many histories at each of some decision points and compare them with the exact posterior: "
            "total variation, beside that of as many exact draws; 0 leaves it out.",
        ),
    ] = 0,
    seed: Seed = 1,
    workers: Workers = 2,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            help="Folder that keeps results as they come, so that a run goes on after a kill. Tests that broke through "
            "a fault of ours (exit code 4) are in no score; the same command tries them once more.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test a model on played games, per kind of test, and check the contract that every game must keep."""
    games = None if trajectories is None else str(trajectories)
    place = recorded_models.named(str(model))
    asked = EvaluationWishes(str(place), games, transitions, seed, contract_games, mutants, posterior)
    evaluate(asked, run, workers, as_json)


def resume(folder: Path, workers: int, as_json: bool) -> None:
    """Goes on with the evaluation of a folder."""
    evaluate(evaluation_run.read_asked(folder), folder, workers, as_json)


def evaluate(asked: EvaluationWishes, folder: Path | None, workers: int, as_json: bool) -> None:
    """Runs what is missing of an evaluation and prints its figures.

    Raises:
        typer.Exit: a test failed, a rule is broken, or tests broke through a fault of ours.
    """
    with console.notices.status("opening the model") as status:
        stage = ""

        def on_stage(text: str) -> None:
            nonlocal stage
            stage = text
            status.update(text)

        found = evaluation_run.evaluate(
            asked, folder, workers, on_stage, lambda done, total: status.update(f"{stage}: {done} of {total}")
        )
    if as_json:
        console.print_json(found)
    else:
        _print(found, "fresh" if asked.trajectories is None else Path(asked.trajectories).name)
    _exit(found)


def _print(found: dict[str, Any], split: str) -> None:
    console.out.print(accuracy_table(_rows(found, split)))
    console.out.print(
        f"{found['games']} games, {found['transitions']} transitions, {found['distinct_states']} distinct states; "
        f"sandbox level {found['level']}"
    )
    if LIKELIHOOD in found:
        console.out.print(f"likelihood bound: {LikelihoodBound.from_json(found[LIKELIHOOD]).in_words()}")
    for failure in found["failures"]:
        console.notices.print(f"{failure['id']}: {failure['field']}: {failure['message']}")
    if found["contract"] is not None:
        _print_contract(found["contract"])
    if found["suite"] is not None:
        suite.show(found["suite"])
    if found["posterior"] is not None:
        _print_posterior(found["posterior"])


def _print_contract(contract: dict[str, Any]) -> None:
    broken = contract["violations"]
    pairs = f" and {contract['hidden_pairs']} pairs of histories" if contract["hidden_pairs"] else ""
    verdict = f"{len(broken)} rules broken" if broken else "every rule kept"
    console.out.print(f"contract of every game, {contract['games']} random games{pairs}: {verdict}")
    for violation in broken:
        console.out.print(f"  {violation['rule']} ({violation['count']} times): {violation['message']}")
        console.out.print(f"    after {json.dumps(violation['actions'], ensure_ascii=False)}")
        console.out.print(f"    in {json.dumps(violation['state'], ensure_ascii=False)}")


def _print_posterior(found: dict[str, Any]) -> None:
    verdict = "within" if found["within"] else "NOT within"
    console.out.print(
        f"inference against the exact posterior, {found['method']}, {found['points']} decision points, "
        f"{found['samples']} samples each: total variation {found['distance']:.4f}, that of as many exact draws "
        f"{found['noise']:.4f}; the difference {found['excess']:.4f} is {verdict} {found['goal']:g}; "
        f"{found['impossible']:.2%} of the samples are impossible"
    )
    worst = found["worst"]
    if worst is not None:
        console.out.print(
            f"  furthest: {worst['distance']:.4f}, exact draws {worst['noise']:.4f}, player {worst['player']} seeing "
            f"{json.dumps(worst['observation'], ensure_ascii=False)}",
            markup=False,
        )


def _rows(found: dict[str, Any], split: str) -> list[Accuracy]:
    """Returns a row a kind, one for the final scores, and one for each field with a failure."""
    tallies = {**found["kinds"], **{Accuracy.field_of(name): tally for name, tally in found["fields"].items()}}
    rows = [Accuracy.of(split, name, tally) for name, tally in tallies.items()]
    shown = headline(rows)
    return shown + [row for row in rows if row.is_field and row.passed < row.total and row not in shown]


def _exit(found: dict[str, Any]) -> None:
    ours = evaluation_run.failures_of_ours(found)
    if ours:
        console.notices.print(
            f"{ours} tests broke through a fault of ours and are in no score; run the command again to try once more"
        )
        raise typer.Exit(EXIT_SYSTEM)
    if found["failed"] or (found["contract"] or {}).get("violations"):
        raise typer.Exit(EXIT_NEGATIVE)
