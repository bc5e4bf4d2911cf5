"""`cwm serve`: pages in the browser of this machine."""

import importlib
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from arena.matches.game_source import is_model
from arena.terminal import console
from arena.usage import UsageError
from games.extras import install
from games.own_code import PREFIX

WEB = frozenset({"starlette", "uvicorn"})


def command(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            help="What the pages show beside the registered games: games of your own to play (cwm:RUN, "
            "python:FILE:NAME), folders of games, files of trajectories, folders of runs. Default: the folder runs."
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help="An agent that reads files, starts a program or asks a language model, and that may be played with; "
            "may be given several times.",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Default: a free one.")] = 0,
) -> None:
    """Play, watch games and follow runs in the browser, on this machine alone; Ctrl-C ends it."""
    web = _web()
    given = places or []
    games = [place for place in given if is_model(place) or place.startswith((PREFIX, "open_spiel:"))]
    shown = [Path(place) for place in given if place not in games]
    missing = [place for place in shown if not place.exists()]
    if missing:
        raise UsageError(f"There is no {missing[0]}: give a game, or a folder or file of games or of a run.")
    # Nothing is interrupted by it: there is no other way to end the server.
    with suppress(KeyboardInterrupt):
        web.serve(games, shown or [Path("runs")], agent or [], port, _ready)


def _ready(address: str) -> None:
    console.out.print(address, soft_wrap=True, highlight=False)
    console.notices.print("Open this address in a browser; Ctrl-C ends the server.", soft_wrap=True)


def _web() -> ModuleType:
    try:
        return importlib.import_module("arena.web.app")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in WEB:
            raise
        raise UsageError(f"Pages need {error.name}, which is not installed; run: {install('web')}.") from error
