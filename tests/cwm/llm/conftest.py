"""A server on the loopback address that gives scripted HTTP answers, for both client libraries."""

import functools
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Reply:
    """One scripted answer; a `body` that is no string is sent as JSON."""

    status: int = 200
    body: Any = ""
    headers: dict[str, str] = field(default_factory=dict)
    hang_s: float = 0.0
    drip_s: float = 0.0
    cut_after: int | None = None


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: Any


class Server:
    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.received: list[Received] = []
        self.stopping = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.received.append(Received(self.path, headers, json.loads(content)))
                server.answer(self, server.replies.pop(0))

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if self.stopping.wait(reply.hang_s):
            return
        body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        headers = {"Content-Type": "application/json", **reply.headers}
        handler.send_response(reply.status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body.encode())))
        handler.end_headers()
        if reply.cut_after is not None:
            handler.wfile.write(body.encode()[: reply.cut_after])
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        for byte in body.encode() if reply.drip_s else ():
            if self.stopping.is_set():
                return
            handler.wfile.write(bytes([byte]))
            time.sleep(reply.drip_s)
        if not reply.drip_s:
            handler.wfile.write(body.encode())

    def stop(self) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()


trust = functools.cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def certificates_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spares every client reading all authorities' certificates, of which a server on the loopback shows none."""
    monkeypatch.setattr(ssl, "create_default_context", trust)


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def reply() -> type[Reply]:
    return Reply


@pytest.fixture
def closed_address() -> str:
    """Returns an address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
