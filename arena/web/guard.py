"""Who may ask: the browser of the person who started the server, and no page of anybody else's."""

import hmac
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN: Final = "token"
"""What the address carries once; a cookie takes its place."""
MOST_BYTES: Final = 64 * 1024
"""Of a request's body."""
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READS: Final = ("GET", "HEAD")


class Guard:
    """Lets requests through that come from this machine's browser and know the token.

    The host is checked against names that lead to another server under this one's address (DNS rebinding), the origin
    and the cookie's `SameSite` against other pages, the token against other users of this machine.

    Args:
        app: what is guarded.
        port: the server's.
        token: what its address carries.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._token = token
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"cwm{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope)
        if answer is not None:
            await answer(scope, receive, sent)
            return
        body = await _body(receive) if scope["method"] not in _READS else b""
        if body is None:
            refused = PlainTextResponse(f"A request has {MOST_BYTES:,} bytes at most.", 413)
            await refused(scope, receive, sent)
            return
        await self._app(scope, _again(body, receive), sent)

    def _refusal(self, scope: Scope) -> Response | None:
        """Returns what is answered in place of the page, None for a request that may pass."""
        headers = Headers(scope=scope)
        method = scope["method"]
        host = headers.getlist("host")
        if len(host) != 1 or host[0] not in self._hosts:
            return PlainTextResponse("This server answers at 127.0.0.1 alone.", 421)
        if method not in (*_READS, "POST"):
            return PlainTextResponse("Pages are read (GET) and moves are sent (POST), nothing else.", 405)
        origins = headers.getlist("origin")
        if origins != [f"http://{host[0]}"] and (origins or method == "POST"):
            return PlainTextResponse("The request comes from another page.", 403)
        asked = parse_qsl(scope["query_string"].decode("latin-1"))
        given = [value for name, value in asked if name == TOKEN]
        if method == "GET" and len(given) == 1 and _same(given[0], self._token):
            return self._welcome(scope["path"], [(name, value) for name, value in asked if name != TOKEN])
        if not self._is_known(headers.get("cookie", "")):
            return PlainTextResponse("Open the whole address that `cwm serve` printed: it ends in ?token=…", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse("The request comes from another page.", 403)
        if method == "POST" and headers.get("content-type", "").partition(";")[0] != "application/json":
            return PlainTextResponse("Send JSON.", 415)
        return None

    def _welcome(self, path: str, rest: list[tuple[str, str]]) -> Response:
        # Leading slashes would make it another server's address.
        place = "/" + path.lstrip("/\\")
        answer = RedirectResponse(place + ("?" + urlencode(rest) if rest else ""), 303)
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return answer

    def _is_known(self, cookies: str) -> bool:
        try:
            found = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self._session)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


async def _body(receive: Receive) -> bytes | None:
    """Returns a request's body, None if it is too long."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        part: bytes = message.get("body", b"")
        body += part
        if len(body) > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Returns what hands out a body that was read already."""
    parts = [body]

    async def received() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return await receive()

    return received
