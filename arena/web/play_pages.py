"""Pages and data of games that are played in the browser."""

import asyncio
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.usage import UsageError
from arena.web.answers import data, number, page, route, wish, wishes
from arena.web.lobby import Lobby, NotHereError
from arena.web.table import Table

LONGEST_WAIT_S: Final = 20.0
_LOOK_S: Final = 0.02


def routes(lobby: Lobby) -> list[Route]:
    """Returns the routes of a lobby and its tables."""

    def table(request: Request) -> Table:
        found = lobby.table(request.path_params["key"])
        if found is None:
            raise NotHereError
        return found

    async def home(request: Request) -> Response:
        return page("Play", "lobby.js")

    async def games(request: Request) -> Response:
        return data(await run_in_threadpool(lobby.described))

    async def rules(request: Request) -> Response:
        if request.path_params["key"] not in lobby.offers:
            raise NotHereError
        return data({"rules": await run_in_threadpool(lobby.rules, request.path_params["key"])})

    async def begin(request: Request) -> Response:
        sent = await wishes(request)
        agents = wish(sent, "agents", list)
        if not all(isinstance(agent, str) for agent in agents):
            raise UsageError("The page sent no agents; load it again.")
        given = (wish(sent, "game", str), wish(sent, "seat", int), agents, wish(sent, "view", str))
        seed = wish(sent, "seed", int) if sent.get("seed") is not None else None
        return data({"table": await run_in_threadpool(lobby.open, *given, seed)})

    async def sit(request: Request) -> Response:
        return page(f"{table(request).wishes.game}: play", "play.js", request.path_params["key"])

    async def told(request: Request) -> Response:
        """Answers as soon as there is news, or after a while."""
        found, known = table(request), request.query_params.get("version", "")
        end = asyncio.get_running_loop().time() + LONGEST_WAIT_S
        while found.version() == known and asyncio.get_running_loop().time() < end:
            if await request.is_disconnected():
                break
            await asyncio.sleep(_LOOK_S)
        return data(found.told(number(request, "after")))

    async def move(request: Request) -> Response:
        sent = await wishes(request)
        if not table(request).choose(wish(sent, "turn", int), wish(sent, "action", str)):
            raise UsageError("This move is not legal now.")
        return data({})

    async def again(request: Request) -> Response:
        return data({"table": await run_in_threadpool(lobby.again, table(request))})

    async def leave(request: Request) -> Response:
        table(request).leave()
        return data({})

    return [
        route("/", home),
        route("/api/games", games),
        route("/api/games/{key}/rules", rules),
        route("/api/tables", begin, "POST"),
        route("/play/{key}", sit),
        route("/api/tables/{key}", told),
        route("/api/tables/{key}/move", move, "POST"),
        route("/api/tables/{key}/again", again, "POST"),
        route("/api/tables/{key}/leave", leave, "POST"),
    ]
