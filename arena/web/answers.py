"""How pages and data are answered: pages are empty frames, data is JSON, and what cannot be done is one sentence."""

import json
import math
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from arena.agents.specs import AgentSpecError
from arena.figures import templates
from arena.matches.plan import TournamentError
from arena.matches.replay import RecordError
from arena.matches.store import StoreError
from arena.usage import UsageError
from arena.web.lobby import NotHereError
from arena.web.shelf import Found, Kind, Shelf
from cwm.model.world_model import WorldModelError
from cwm.storage.journal import RunRecordError
from cwm.trajectories.recorded import TrajectoryFormatError
from games.api import GameError
from games.yokai.drawing_parts import STYLE

KNOWN: Final = (
    UsageError,
    GameError,
    AgentSpecError,
    StoreError,
    RecordError,
    TournamentError,
    RunRecordError,
    TrajectoryFormatError,
    WorldModelError,
    OSError,
)
"""Errors whose message is for people."""
_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

Endpoint = Callable[[Request], Awaitable[Response]]


def page(title: str, script: str, key: str = "") -> Response:
    """Returns the frame of a page, which its script fills.

    Args:
        title: of the window.
        script: file of `static`.
        key: of what it shows.
    """
    return HTMLResponse(templates.page("arena.web", "page.html.j2", title=title, script=script, key=key))


def data(value: Any) -> Response:
    """Returns data as JSON; what is none in it, in games and recordings that others made, becomes text."""
    try:
        return JSONResponse(value)
    except (TypeError, ValueError):
        return JSONResponse(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(str(name)): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value).encode("utf-8", "replace").decode("utf-8")


def route(path: str, answer: Endpoint, method: str = "GET") -> Route:
    """Returns a route whose errors that people can mend are answered as one sentence."""

    async def endpoint(request: Request) -> Response:
        try:
            return await answer(request)
        except NotHereError:
            return JSONResponse({"error": "There is nothing at this address any more; begin at the first page."}, 404)
        except KNOWN as error:
            return JSONResponse({"error": str(error)}, 400)

    return Route(path, endpoint, methods=[method])


async def wishes(request: Request) -> dict[str, Any]:
    """Returns the JSON object that a page sent.

    Raises:
        UsageError: it is none.
    """
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise UsageError("The page sent what is no JSON; load it again.") from error
    if not isinstance(found, dict):
        raise UsageError("The page sent no JSON object; load it again.")
    return found


def wish(data: Mapping[str, Any], name: str, kind: type) -> Any:
    """Returns one field of what a page sent.

    Raises:
        UsageError: it is missing or of another type.
    """
    value = data.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        raise UsageError(f"The page sent no {name}; load it again.")
    return value


def number(request: Request, name: str, otherwise: int = 0) -> int:
    """Returns a whole number of an address, `otherwise` where there is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else otherwise


def static_routes() -> list[Route]:
    """Returns the routes of scripts and styles, which are read once: no address leads to the disk."""
    files: dict[str, tuple[bytes, str]] = {"yokai.css": (STYLE.encode(), "text/css")}
    folder = resources.files("arena.web") / "static"
    for place in folder.iterdir():
        kind = _TYPES.get("." + place.name.rpartition(".")[2])
        if kind is not None:
            files[place.name] = (place.read_bytes(), kind)

    async def file(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            raise NotHereError
        return Response(found[0], media_type=found[1])

    async def no_icon(request: Request) -> Response:
        return Response(status_code=204)

    return [route("/static/{name}", file), route("/favicon.ico", no_icon)]


def on_shelf(request: Request, shelf: Shelf, *kinds: Kind) -> Found:
    """Returns what an address names by its `key`.

    Args:
        request: its path has the key.
        shelf: gave it out.
        kinds: of which it must be one.

    Raises:
        NotHereError: nothing of these kinds has this key.
    """
    found = shelf.get(request.path_params["key"], *kinds)
    if found is None:
        raise NotHereError
    return found
