"""`cwm compare`: every kind of player with itself and with every other, in one cross-play table."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.exit_codes import EXIT_SYSTEM
from arena.comparison import comparison
from arena.comparison.comparison import Comparison, ComparisonConfig
from arena.comparison.contenders import TITLES, contenders, of_agents
from arena.language_players.models import PlayerModels
from arena.machine import shipped
from arena.machine.runtime import Runtime
from arena.pages import folder_page
from arena.report import comparison as comparison_report
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import (
    GAME,
    MOST_GAMES,
    MOST_SIMULATIONS,
    NOT_KEPT,
    AsJson,
    MaxCalls,
    MaxTokens,
    Seed,
    Workers,
    require_folders,
)
from arena.usage import UsageError
from cwm.llm.caps import Caps
from cwm.storage.files import write_whole

EPILOG = f"Kinds of players: {', '.join(f'{name} ({title})' for name, title in TITLES.items())}; "
EPILOG += "and the bots of a game by their names, such as simple in Hanabi, where they play unless others are named."
"""What `cwm compare --help` says of the players."""


def command(
    game: Annotated[str, typer.Argument(help=GAME)] = "yokai-9c-2p",
    agents: Annotated[
        str | None, typer.Option("--agents", help="Only these kinds of players, e.g. heuristic,cwm-prior,op.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="Also this agent, one option each, as for `cwm arena`, e.g. one of your own."),
    ] = None,
    games: Annotated[
        int, typer.Option("--games", min=1, max=MOST_GAMES, help="Games a pairing, over both seatings.")
    ] = 40,
    simulations: Annotated[
        int, typer.Option("--simulations", min=1, max=MOST_SIMULATIONS, help="Simulations a move of every planner.")
    ] = 100,
    seed: Seed = 0,
    workers: Workers = 2,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            help="Also play now with a language model, PROVIDER:MODEL[,OPTION=VALUE,…] as in `cwm arena`; default: its "
            "recorded games alone.",
        ),
    ] = None,
    policies: Annotated[
        Path | None,
        typer.Option("--policies", help="Folder of trained policies (op-s0, …) that play instead of those that ship."),
    ] = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the games, so that a comparison goes on after a kill, and their page, report.html."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the tables and a heat map to this page.")] = None,
    text: Annotated[Path | None, typer.Option(help="Write the table as Markdown, for a README.")] = None,
    as_json: AsJson = False,
) -> None:
    """Play every kind of player with itself and with every other on common deals; some 10 minutes on two free cores."""
    require_folders(html, text)
    wanted = [] if agents is None else [name.strip() for name in agents.split(",") if name.strip()]
    players = (*contenders(game, wanted, simulations, llm, policies), *of_agents(game, agent or []))
    if all(found.view is None for found in players):
        raise UsageError(
            f"None of these players can play {game}: "
            f"{', '.join(f'{found.name} ({found.absent})' for found in players)}; choose others with --agents."
        )
    level = shipped.level_of([found.spec.model_hash for found in players if found.spec and found.spec.traits.sandboxed])
    caps = Caps(calls=max_calls, tokens=max_tokens)
    if caps != Caps() and not any(found.spec is not None and found.spec.traits.asks for found in players):
        raise UsageError("No language model plays, and nothing is asked: leave out caps, or add --llm.")
    config = ComparisonConfig(game, players, games, seed, Runtime(level=level))
    shipped_ones = [found.name for found in players if found.spec is not None and found.spec.traits.trained]
    if policies is None and shipped_ones:
        console.notices.print(
            f"{', '.join(shipped_ones)}: the policies that ship; --policies FOLDER plays those of your training"
        )
    found = _play(config, run, workers, caps)
    if as_json:
        console.print_json(found.to_json())
    else:
        for table in comparison_report.tables(found):
            console.out.print(table)
    if html is not None:
        write_whole(html, comparison_report.render(found))
    if run is not None:
        console.notices.print(folder_page.write(run, found.table.games, lambda: comparison_report.render(found)))
    if text is not None:
        write_whole(text, comparison_report.markdown(found))
    if found.missing:
        console.notices.print(f"{len(found.missing)} games could not be played; run the command again")
        raise typer.Exit(EXIT_SYSTEM)


def _play(config: ComparisonConfig, folder: Path | None, workers: int, caps: Caps) -> Comparison:
    asked = [found.spec for found in config.contenders if found.spec is not None and found.spec.traits.asks]
    with ExitStack() as stack:
        models = None
        if asked:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            models = stack.enter_context(PlayerModels(asked, folder, caps, game=config.game))
        show = stack.enter_context(counted_bar("games", "" if folder else NOT_KEPT))
        return comparison.run(config, folder, workers, lambda state: show(state.done, state.total), models)
