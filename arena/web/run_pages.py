"""Pages and data of runs and tournaments, while they grow and afterwards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.web import followed, shelf
from arena.web.answers import data, on_shelf, page, route
from arena.web.lobby import NotHereError
from arena.web.shelf import Found, Shelf


def routes(places: Shelf) -> list[Route]:
    """Returns the routes of the runs and tournaments on a shelf."""

    def place(request: Request) -> Found:
        return on_shelf(request, places, "games", "run")

    async def runs(request: Request) -> Response:
        return page("Runs", "runs.js")

    async def listed(request: Request) -> Response:
        found = [one for one in await run_in_threadpool(places.look) if one.kind != "trajectories"]
        return data([{"key": one.key, "kind": one.kind, "title": one.title} for one in found])

    async def watch(request: Request) -> Response:
        return page("Run", "run.js", place(request).key)

    async def told(request: Request) -> Response:
        """Answers in full only if something was written since."""
        found = place(request)
        version = str(shelf.changed(found.kind, found.path))
        if version == request.query_params.get("version"):
            return data({"version": version})
        look = followed.run if found.kind == "run" else followed.tournament
        news = await run_in_threadpool(look, found.path)
        return data({"version": version, "title": found.title, "is_run": found.kind == "run", **news})

    async def part(request: Request, look: Callable[[Path, int], dict[str, Any] | None]) -> Response:
        found = place(request)
        if found.kind != "run":
            raise NotHereError
        there = await run_in_threadpool(look, found.path, request.path_params["number"])
        if there is None:
            raise NotHereError
        return data(there)

    async def call(request: Request) -> Response:
        return await part(request, followed.call)

    async def candidate(request: Request) -> Response:
        return await part(request, followed.candidate)

    return [
        route("/runs", runs),
        route("/api/runs", listed),
        route("/runs/{key}", watch),
        route("/api/runs/{key}", told),
        route("/api/runs/{key}/calls/{number:int}", call),
        route("/api/runs/{key}/candidates/{number:int}", candidate),
    ]
