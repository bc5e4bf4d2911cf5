"""`cwm posg matrix`: methods, by whom they planned for and whom they met."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from arena.agents.api import InfrastructureError
from arena.pages import folder_page
from arena.posg import matrix, matrix_figures, matrix_page, matrix_plan
from arena.posg.matrix import Matrix
from arena.posg.matrix_methods import MEMBERS, METHODS, RANDOM, MoveBudget, asked_method
from arena.posg.matrix_plan import MatrixWishes
from arena.terminal import console
from arena.terminal.bar import counted_bar
from arena.terminal.options import MOST_GAMES, MOST_SIMULATIONS, NOT_KEPT, AsJson, Seed, Workers
from arena.usage import UsageError
from cwm.storage.files import write_whole

MAKES: Final = (
    "`cwm train posg {game} --population {population} --scale reduced --out {folder}` makes it; then give --trained "
    "{population}={folder}."
)
"""What a method needs that lacks a best response."""
PUBLISHED: Final = [name for name in METHODS if name not in (MEMBERS, RANDOM)]
"""The paper's methods, which play where none is named."""


def command(
    game: Annotated[str, typer.Argument(help="Id of a game of simultaneous moves, e.g. cooperative-reaching.")],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help=f"One option each, of {', '.join(METHODS)}; a planner's settings may follow: ipomcp,belief=adapted. "
            "Default: the paper's six, as far as policies are trained.",
        ),
    ] = None,
    planned: Annotated[
        list[str] | None,
        typer.Option(
            "--planned-for",
            help="A population that methods are told of, one option each: P0, a file, or policies joined by +. "
            "Default: those that ship.",
        ),
    ] = None,
    met: Annotated[
        list[str] | None,
        typer.Option("--met", help="A population that they meet, one option each. Default: those planned for."),
    ] = None,
    times: Annotated[
        list[float] | None,
        typer.Option("--time", help="Seconds a move, one option each; what is played then depends on the machine."),
    ] = None,
    sims: Annotated[
        list[int] | None,
        typer.Option(
            "--sims", min=1, max=MOST_SIMULATIONS, help="Simulations a move, one option each; alike on every machine."
        ),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", min=2, max=MOST_GAMES, help="Games a cell.")] = 30,
    seat: Annotated[int, typer.Option("--seat", help="Agent that the method is, 0 or 1.")] = 0,
    trained: Annotated[
        list[str] | None,
        typer.Option(
            "--trained",
            help="POPULATION=FOLDER, one option each: best responses to it (br-s0, …), for rl-br and combined.",
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", help="Folder that keeps the games, so that a matrix goes on after a kill, and report.html."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option("--page", help="File for a page with charts by budget.")] = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: AsJson = False,
) -> None:
    """Play methods by whom they planned for and whom they met: returns in and out of distribution, and the gap."""
    asked = MatrixWishes(
        game,
        tuple(asked_method(text) for text in methods or PUBLISHED),
        tuple(name.strip() for name in planned or []),
        tuple(name.strip() for name in met or []),
        _budgets(sims or [], times or []),
        episodes,
        seat,
        seed,
        dict(_trained(text) for text in trained or []),
        MAKES,
        all_of_them=not methods,
    )
    found = _play(asked, run, workers)
    if page is not None:
        write_whole(page, matrix_page.render(found).encode())
        console.notices.print(f"wrote {page}")
    if run is not None:
        kept = replace(matrix.read(run), lacking=found.lacking)  # cells of earlier commands, too
        games = sum(len(cell.returns) for cell in kept.cells)
        console.notices.print(folder_page.write(run, games, lambda: matrix_page.render(kept)))
    if as_json:
        console.print_json(matrix_figures.to_json(found))
    else:
        for sheet in matrix_figures.sheets(found):
            console.out.print(sheet)
    broken = list(dict.fromkeys(said for cell in found.cells for said in cell.broken))
    if broken:
        raise InfrastructureError(f"games could not be played ({'; '.join(broken)}): run the same command again.")


def _budgets(sims: Sequence[int], times: Sequence[float]) -> tuple[MoveBudget, ...]:
    for seconds in times:
        if not 0.0 < seconds < float("inf"):
            raise UsageError(f"the option `time` is {seconds:g}, expected a number of seconds above 0.")
    found = [*(MoveBudget(simulations=count) for count in sims), *(MoveBudget(seconds=seconds) for seconds in times)]
    return tuple(dict.fromkeys(found))


def _trained(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not equals or not name or not folder:
        raise UsageError(f"the option `trained` is {text!r}: write POPULATION=FOLDER, e.g. P0=runs/P0.")
    return name, Path(folder)


def _play(asked: MatrixWishes, folder: Path | None, workers: int) -> Matrix:
    plan = matrix_plan.planned(asked)
    for why in plan.lacking:
        console.notices.print(Text(f"left out: {why}"))
    if folder is not None:
        matrix.keep(folder, plan)
    try:
        with counted_bar("games", "" if folder else NOT_KEPT) as show:
            return matrix.play(plan, folder, workers=workers, on_game=show)
    except BaseException:
        if folder is not None:
            console.notices.print(f"finished games are kept in {folder}; the same command plays the rest")
        raise
