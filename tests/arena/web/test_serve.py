"""The command `cwm serve` says in a sentence what it cannot do."""

import importlib.util
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from arena.commands import serve


@pytest.mark.parametrize("name", ["starlette", "uvicorn"])
def test_what_is_not_installed_is_named_with_the_way_to_install_it(
    refused: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def missing(module: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(serve, "importlib", SimpleNamespace(import_module=missing))
    assert f"Pages need {name}, which is not installed; run: pip install" in refused("serve").err


@pytest.mark.extra("web")
def test_a_place_that_is_not_there_is_named(refused: Any) -> None:
    pytest.importorskip("starlette")
    assert (
        "There is no nowhere: give a game, or a folder or file of games or of a run." in refused("serve", "nowhere").err
    )


@pytest.mark.extra("web")
def test_a_port_that_is_taken_is_named(refused: Any) -> None:
    pytest.importorskip("starlette")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("serve", "--port", port).err
    assert f"Port {port} cannot be used" in said
    assert "give another with --port." in said


@pytest.mark.extra("web")
def test_whoever_opens_the_address_as_soon_as_it_is_printed_is_not_refused() -> None:
    app = pytest.importorskip("arena.web.app")
    listener = app._listener(0)
    with listener, socket.create_connection(listener.getsockname(), timeout=10) as client:
        assert client.getpeername() == listener.getsockname()


@pytest.mark.extra("web")
def test_an_agent_that_nobody_can_read_is_refused_at_the_start(refused: Any) -> None:
    pytest.importorskip("starlette")
    assert "nobody" in refused("serve", "--agent", "nobody:x").err


def test_only_the_extra_of_the_pages_is_named() -> None:
    assert {"starlette", "uvicorn"} == serve.WEB
    assert importlib.util.find_spec("arena.web.app") is not None
