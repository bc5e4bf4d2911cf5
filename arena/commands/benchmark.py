"""`cwm benchmark`: speed and strength, as a table or as JSON records."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena import accelerated, console, recorded_models
from arena.benchmarks import game_speed, partners, sandbox_speed, search_speed, strength
from arena.benchmarks.measurement import Measurement, machine, table
from arena.errors import UsageError
from arena.game_source import load_bundle
from arena.options import AsJson, Seed, Workers
from arena.report.tables import paper_table
from cwm.llm import recordings


class Name(StrEnum):
    """The benchmarks."""

    SEARCH = "search"
    SANDBOX = "sandbox"
    GAMES = "games"
    STRENGTH = "strength"
    YOKAI = "yokai"
    PARTNERS = "partners"


def command(
    name: Annotated[
        Name,
        typer.Argument(
            help="search: simulations/s beside OpenSpiel's Python bots; sandbox: what a worker costs; games: random "
            "games/s; strength: 200 games of the planner on the recorded yokai-9c-2p model, without its prior (long); "
            "yokai: steps/s of the batched environment on the device that JAX finds; partners: the planner that reads "
            "its partner, with partners that play otherwise (long)."
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option("--model", help="strength, partners: folder of a run or model; default: the recorded one."),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            "--games",
            min=1,
            help=f"strength: games (default {strength.GAMES}); partners: games of a setting with each "
            f"partner (default {partners.GAMES}).",
        ),
    ] = None,
    seed: Seed = 0,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Measure, and print a table, or with --json a list of records: name, value, unit, baseline, ratio."""
    found = []
    for item in _measurements(name, model, games, seed, workers):
        found.append(item)
        if not as_json:
            value = "nothing to measure" if item.value is None else f"{item.value:.4g} {item.unit}"
            console.notices.print(f"{item.name}: {value}")
    published = name is Name.STRENGTH
    if as_json:
        console.print_json([item.to_json() for item in (*found, *(strength.published() if published else ()))])
        return
    console.out.print(table(found))
    if published:
        console.out.print(paper_table(strength.GAME))
    console.out.print(f"measured on: {machine()}")


def _measurements(name: Name, model: Path | None, games: int | None, seed: int, workers: int) -> Iterator[Measurement]:
    if name is Name.SEARCH:
        return search_speed.run({game: load_bundle(recorded_models.folder_of(game)) for game in _recorded()}, seed)
    if name is Name.SANDBOX:
        return sandbox_speed.run({game: load_bundle(recorded_models.folder_of(game)) for game in _recorded()})
    if name is Name.YOKAI:
        measured: Iterator[Measurement] = accelerated.load("arena.benchmarks.yokai_speed").run()
        return measured
    if name is Name.GAMES:
        return game_speed.run()
    folder = model or recorded_models.folder_of(strength.GAME)
    bundle = load_bundle(folder)
    kept = recorded_models.cache_folder() / name.value / bundle.hash[:16]
    if name is Name.PARTNERS:
        if bundle.prior_source is None:
            raise UsageError(f"The model in {folder} has no policy prior: synthesise one with --priors.")
        return partners.run(folder, bundle.value_source is not None, kept, workers, games or partners.GAMES)
    return strength.run(folder, kept, workers, games or strength.GAMES)


def _recorded() -> list[str]:
    return recordings.bundled_games()
