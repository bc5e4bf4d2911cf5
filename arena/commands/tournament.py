"""`cwm arena`: matches between agents over all seat rotations on common deals, resumable."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arena import console, recorded_models, shipped, tournament
from arena.agent_specs import AgentSpec, parse
from arena.errors import EXIT_SYSTEM, UsageError
from arena.game_source import game_info
from arena.options import AsJson, Seed, Workers
from arena.report.tables import arena_tables, paper_table
from arena.run_matches import view
from arena.store import Games, GameStore, MemoryStore, write_standings
from arena.tournament import Pairing, TournamentConfig, TournamentResult
from cwm.llm.files import write_whole

CONFIG_FILE = tournament.ASKED_FILE


def command(
    game: Annotated[
        str,
        typer.Argument(
            help="Id of a game (`cwm games list` shows them), or cwm:RUN, where a synthesised model decides what is "
            "legal and who wins."
        ),
    ],
    agent: Annotated[
        list[str],
        typer.Option(
            "--agent",
            help="One option an agent: random, mcts:sims=1000, ismcts:sims=1000,leaf=value, cwm:RUN,sims=…, "
            "cwm:recorded (the model of the recording that ships for the game).",
        ),
    ],
    deals: Annotated[int, typer.Option(min=1, help="Deals a lineup, each played in all seat rotations.")] = 10,
    pairing: Annotated[
        str, typer.Option(help="all, cross (different agents only) or self (each with itself).")
    ] = "all",
    seed: Seed = 0,
    workers: Workers = 2,
    run: Annotated[
        Path | None, typer.Option(help="Folder that keeps the games, so that a run goes on after a kill.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play a tournament and print the tables."""
    if pairing not in ("all", "cross", "self"):
        raise UsageError(f"--pairing is {pairing!r}; it must be all, cross or self.")
    config = TournamentConfig(game, tuple(parse(text) for text in agent), deals, seed, _pairing(pairing))
    play(config, run, workers, as_json)


def play(config: TournamentConfig, folder: Path | None, workers: int, as_json: bool) -> None:
    """Plays what is missing, prints the tables, and says which games could not be played.

    Raises:
        typer.Exit: games are missing through a fault of ours.
    """
    agents = tuple(recorded_models.filled_in(config.agents, game_info(config.game).id))
    prepared = tournament.prepare(replace(config, agents=agents))
    models = [spec.model_hash for spec in prepared.agents if spec.kind == "cwm"]
    level = shipped.level_of(models if prepared.referee is None else [*models, prepared.referee])
    prepared = replace(prepared, runtime=replace(prepared.runtime, level=level))
    if folder is None:
        result = _run(prepared, MemoryStore(), workers)
    else:
        with GameStore(folder, prepared.to_json()) as store:
            write_whole(folder / CONFIG_FILE, json.dumps(_asked(config), indent=2) + "\n", replace=False)
            result = _kept(prepared, store, workers, folder)
            write_standings(folder, result.table.to_json())
    _print(prepared, result, as_json)
    if result.faults:
        console.notices.print(
            f"{sum(result.faults.values())} attempts at a game broke through a fault of ours and are in no table"
        )
    if result.missing:
        console.notices.print(
            f"{len(result.missing)} games could not be played; run the command again to try once more"
        )
        raise typer.Exit(EXIT_SYSTEM)


def resume(folder: Path, workers: int, as_json: bool) -> None:
    """Goes on with the tournament of a folder."""
    try:
        data = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        agents = tuple(AgentSpec.from_json(item) for item in data["agents"])
        config = TournamentConfig(data["game"], agents, data["deals"], data["seed"], data["pairing"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder / CONFIG_FILE} is damaged ({error}); give the command of the tournament again."
        ) from error
    play(config, folder, workers, as_json)


def _pairing(text: str) -> Pairing:
    return "all" if text == "all" else "cross" if text == "cross" else "self"


def _asked(config: TournamentConfig) -> dict[str, Any]:
    return config.to_json() | {"agents": [spec.to_json() for spec in config.agents]}


def _kept(config: TournamentConfig, store: Games, workers: int, folder: Path) -> TournamentResult:
    try:
        return _run(config, store, workers)
    except BaseException:
        console.notices.print(f"{len(store.games())} finished games are kept; `cwm resume {folder}` plays the rest")
        raise


def _run(config: TournamentConfig, store: Games, workers: int) -> TournamentResult:
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console.notices, transient=True) as progress:
        task = progress.add_task("games", total=None)
        return tournament.run(
            config,
            store,
            workers=workers,
            on_game=lambda state: progress.update(task, completed=state.done, total=state.total),
        )


def _print(config: TournamentConfig, result: TournamentResult, as_json: bool) -> None:
    if as_json:
        console.print_json(
            {
                "config": config.to_json(),
                "standings": result.table.to_json(),
                "standings_without_forfeits": None
                if result.table_without_forfeits is None
                else result.table_without_forfeits.to_json(),
                "missing": result.missing,
                "faults": result.faults,
                "sandbox": config.runtime.level,
            }
        )
        return
    for table in arena_tables(view(config.game, config, result)):
        console.out.print(table)
    published = paper_table(config.game)
    if published is not None:
        console.out.print(published)
    if any(spec.kind == "cwm" for spec in config.agents):
        console.notices.print(f"models ran at sandbox level {config.runtime.level}")
