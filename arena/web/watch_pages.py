"""Pages and data of stored games."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.web.answers import data, number, on_shelf, page, route
from arena.web.lobby import NotHereError
from arena.web.reels import Reel
from arena.web.shelf import Found, Shelf
from arena.web.stock import Stock


def routes(shelf: Shelf, stock: Stock) -> list[Route]:
    """Returns the routes of what lies on a shelf."""

    def place(request: Request) -> Found:
        return on_shelf(request, shelf, "games", "trajectories")

    async def reel(request: Request) -> Reel:
        found = await run_in_threadpool(stock.reel, place(request), request.path_params["number"])
        if found is None:
            raise NotHereError
        return found

    async def all_places(request: Request) -> Response:
        return page("Watch", "shelf.js")

    async def places(request: Request) -> Response:
        found = [place for place in await run_in_threadpool(shelf.look) if place.kind != "run"]
        return data([{"key": one.key, "kind": one.kind, "title": one.title} for one in found])

    async def games(request: Request) -> Response:
        return data(await run_in_threadpool(stock.listed, place(request), number(request, "first")))

    async def watch(request: Request) -> Response:
        key = f"{place(request).key}/{request.path_params['number']}"
        return page("Watch", "watch.js", key)

    async def about(request: Request) -> Response:
        found = await reel(request)
        told = found.credits
        return data(
            {
                "game": told.game,
                "names": told.names,
                "end": told.end,
                "length": found.length,
                "views": found.views,
                "place": place(request).title,
            }
        )

    async def frames(request: Request) -> Response:
        found = await reel(request)
        views = request.query_params.get("views", "").split(",")
        return data(await run_in_threadpool(found.frames, number(request, "first"), views))

    return [
        route("/watch", all_places),
        route("/api/shelf", places),
        route("/api/shelf/{key}", games),
        route("/watch/{key}/{number:int}", watch),
        route("/api/shelf/{key}/{number:int}", about),
        route("/api/shelf/{key}/{number:int}/frames", frames),
    ]
