"""Only the browser of the person who started the server is answered."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from arena.web import guard
from arena.web.lobby import Lobby
from tests.arena.web.pages import HERE, PORT, TOKEN, Browser

pytestmark = pytest.mark.extra("web")


@pytest.fixture
def stranger() -> Browser:
    return Browser(Lobby([], []))


PATHS = ("/", "/api/games", "/static/play.js", "/nothing")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_shown_without_the_token(stranger: Browser, path: str) -> None:
    for address in (path, f"{path}?token=another", f"{path}?token={TOKEN}&token={TOKEN}"):
        assert stranger.client.get(address).status_code == 403


def test_the_token_is_exchanged_for_a_cookie_that_no_script_and_no_other_page_can_use(stranger: Browser) -> None:
    answer = stranger.client.get(f"/play/x?token={TOKEN}&a=b")
    assert (answer.status_code, answer.headers["location"]) == (303, "/play/x?a=b")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert stranger.client.get("/").status_code == 200


def test_the_token_leads_to_no_other_server(stranger: Browser) -> None:
    for path in ("//evil.example/", "/\\evil.example/"):
        answer = stranger.client.get(f"http://127.0.0.1:{PORT}{path}?token={TOKEN}")
        assert re.match(r"/[^/\\]", answer.headers["location"]), path


@pytest.mark.parametrize("cookie", ["", "cwm8123=", f"cwm8123={TOKEN}", "cwm8123=a; cwm8123=b", '"=;;'])
def test_a_made_up_cookie_is_refused(stranger: Browser, cookie: str) -> None:
    assert stranger.client.get("/", headers={"cookie": cookie}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_is_refused_even_with_the_cookie(browser: Browser, host: str) -> None:
    assert browser.client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1"])
def test_requests_of_another_page_are_refused_even_with_the_cookie(browser: Browser, origin: str) -> None:
    assert browser.client.get("/api/games", headers={"origin": origin}).status_code == 403
    assert browser.client.post("/api/tables", json={}, headers={"origin": origin}).status_code == 403


def test_what_is_sent_names_its_page(browser: Browser) -> None:
    assert browser.client.post("/api/tables", json={}).status_code == 403
    crossed = HERE | {"sec-fetch-site": "cross-site"}
    assert browser.client.post("/api/tables", json={}, headers=crossed).status_code == 403


def test_a_form_is_no_json(browser: Browser) -> None:
    assert browser.client.post("/api/tables", data={"a": "b"}, headers=HERE).status_code == 415


def test_other_methods_are_refused(browser: Browser) -> None:
    assert {browser.client.request(method, "/").status_code for method in ("PUT", "DELETE", "TRACE", "OPTIONS")} == {
        405
    }


def test_a_long_request_is_refused(browser: Browser) -> None:
    fits = browser.client.post("/api/tables", json="a" * (guard.MOST_BYTES - 2), headers=HERE)
    assert (fits.status_code, fits.json()["error"]) == (400, "The page sent no JSON object; load it again.")
    assert browser.client.post("/api/tables", json="a" * guard.MOST_BYTES, headers=HERE).status_code == 413


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/page.css", "/api/games"])
def test_every_answer_forbids_scripts_of_others_frames_and_guesses(browser: Browser, path: str) -> None:
    headers = browser.client.get(path).headers
    assert {name: headers[name] for name in guard.HEADERS} == dict(guard.HEADERS)
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static/%2e%2e%2fguard.py",
        "/static//etc/passwd",
        "/static/..%5cguard.py",
        "/static/page.css%00",
    ],
)
def test_no_address_reaches_the_disk(browser: Browser, path: str) -> None:
    assert browser.client.get(path).status_code == 404
