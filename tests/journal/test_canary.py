"""A key in the environment of a whole run, against a server on the loopback that says it back, is left nowhere."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CANARY = "sk-canary-0123456789abcdef"
RIGHT = (ROOT / "tests" / "data" / "programs" / "registered_tic_tac_toe.py").read_text(encoding="utf-8")
CURIOUS = f"""
{RIGHT}

def get_observations(state):
    try:
        import sys
        environment = sys.modules["os"].environ
    except Exception as error:
        raise ValueError(f"no environment: {{error}}")
    raise ValueError(f"the environment: {{dict(environment)}}")
"""
FORMS = ("openai", "google")


class Careless(BaseHTTPRequestHandler):
    """Fails first, quoting the key; then answers with a program that looks for it, and then with a right one."""

    seen: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ") or self.headers.get("x-goog-api-key", "")
        self.seen.append(key)
        number = len(self.seen)
        if number == 1:
            return self._say(500, {"error": {"message": f"your key {key} is fine, we are not", "code": 500}})
        text = f"```python\n{CURIOUS if number == 2 else RIGHT}\n```"
        if "generateContent" in self.path:
            content = {"role": "model", "parts": [{"text": text}]}
            return self._say(200, {"candidates": [{"content": content, "finishReason": "STOP"}]})
        if "streamGenerateContent" in self.path:
            content = {"role": "model", "parts": [{"text": text}]}
            return self._say(200, {"candidates": [{"content": content, "finishReason": "STOP"}]}, "data: ", "\n\n")
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        return self._say(200, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    def _say(self, status: int, body: Any, before: str = "", after: str = "") -> None:
        data = f"{before}{json.dumps(body)}{after}".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if before else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def careless() -> Iterator[tuple[str, list[str]]]:
    seen: list[str] = []
    handler = type("Handler", (Careless,), {"seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", seen
    server.shutdown()
    server.server_close()


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        for task in tasks:
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    except OSError:  # it has ended meanwhile
        pass
    return found


def environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended meanwhile, or let nobody look
        return b""


@pytest.mark.parametrize("form", FORMS)
def test_the_key_is_in_no_journal_log_worker_environment_report_exception_or_recording(
    form: str, careless: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, seen = careless
    variable = "OPENAI_API_KEY" if form == "openai" else "GEMINI_API_KEY"
    url = f"{address}/v1" if form == "openai" else address
    run, recording = tmp_path / "run", tmp_path / "recording.jsonl"
    words = ["synthesize", "tic_tac_toe", "--llm", f"{form}:m", "--base-url", url, "--run", str(run), "--json"]
    words += ["--record", str(recording), "--test-transitions", "40", "--workers", "2", "--games", "2"]
    words += ["--further-games", "1"]
    code = "import logging, sys; logging.basicConfig(level=1); from arena import cli; sys.exit(cli.run(sys.argv[1:]))"
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stdout=out,
            stderr=err,
            env={**os.environ, variable: CANARY, "PYTHONPATH": str(ROOT)},
        )
        looked: dict[int, bytes] = {}
        while process.poll() is None:
            time.sleep(0.02)
            own = environment(process.pid)
            # A process is its parent's copy until it has become another program.
            found = {pid: environment(pid) for pid in descendants(process.pid)}
            # Python's own `platform` asks uname, a tool of the system, in the user's environment.
            found = {pid: content for pid, content in found.items() if not content.endswith(b"uname\0-p\0")}
            looked |= {pid: content for pid, content in found.items() if content != own}
    said = (tmp_path / "out").read_text() + (tmp_path / "err").read_text()
    assert process.returncode == 0, said
    assert seen == [CANARY] * 3
    assert "playing on with program" in said
    assert "answered 500" not in said or "[key]" in said
    assert len(looked) >= 2
    assert [content for content in looked.values() if CANARY.encode() in content] == []
    assert CANARY not in said
    places = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"report.html", "journal.sqlite", "run.json", "result.json", "recording.jsonl"} <= {p.name for p in places}
    assert [path for path in places if CANARY.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("form", FORMS)
def test_the_key_is_in_no_message_when_a_run_fails(
    form: str, careless: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = careless
    monkeypatch.setenv("OPENAI_API_KEY" if form == "openai" else "GEMINI_API_KEY", CANARY)
    url = f"{address}/nowhere/{CANARY}?key={CANARY}"
    words = ["llm", "ask", f"{form}:m", "hello", "--base-url", url.replace("http://", f"http://user:{CANARY}@")]
    done = subprocess.run(
        [sys.executable, "-m", "arena", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    assert f"user:{CANARY}" not in done.stdout + done.stderr
    assert f"key={CANARY}" not in done.stdout + done.stderr
