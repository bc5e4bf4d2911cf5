"""The server's pages as one application, and the server itself."""

import logging
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from arena.usage import UsageError
from arena.web import answers, play_pages, run_pages, watch_pages
from arena.web.guard import TOKEN, Guard
from arena.web.lobby import Lobby
from arena.web.shelf import Shelf
from arena.web.stock import Stock

HOST = "127.0.0.1"


def application(lobby: Lobby, shelf: Shelf, stock: Stock, port: int, token: str) -> ASGIApp:
    """Returns the pages behind their guard.

    Args:
        lobby: what may be played.
        shelf: what may be looked at.
        stock: opens its games.
        port: of the server: requests to other ports' names are refused.
        token: what the address carries.
    """
    pages = [
        *answers.static_routes(),
        *play_pages.routes(lobby),
        *watch_pages.routes(shelf, stock),
        *run_pages.routes(shelf),
    ]
    site = Starlette(routes=pages)
    # What has a slash too many is not found, and no address is made of what was asked.
    site.router.redirect_slashes = False
    return Guard(site, port, token)


def serve(
    games: Sequence[str], places: Sequence[Path], agents: Sequence[str], port: int, ready: Callable[[str], object]
) -> None:
    """Serves the pages until Ctrl-C.

    Args:
        games: to be played beside the registered ones.
        places: games and runs to look at.
        agents: descriptions that may be played with, whatever they start or read.
        port: 0 for a free one.
        ready: told the address once it answers.

    Raises:
        UsageError: the port is taken.
    """
    lobby, shelf, stock = Lobby(games, agents), Shelf(places), Stock(games)
    shelf.look()
    listener = _listener(port)
    try:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = application(lobby, shelf, stock, number, token)
        # Addresses carry the token: nobody writes them down.
        config = uvicorn.Config(
            app,
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        ready(f"http://{HOST}:{number}/?{TOKEN}={token}")
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        lobby.close()
        stock.close()
        listener.close()


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # Who opens the address as soon as it is printed waits, and is not refused.
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"Port {port} cannot be used ({reason}); give another with the option `port`.") from error
    return listener
