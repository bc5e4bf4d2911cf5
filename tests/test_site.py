"""The documentation site: its tutorial is played as it stands, and the site is built from nothing outside."""

import ast
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from arena import cli, face

ROOT: Final = Path(__file__).resolve().parents[1]
SETTINGS: Final = ROOT / "arena" / "docs" / "mkdocs.yml"
TUTORIAL: Final = ROOT / "arena" / "docs" / "pages" / "tutorial.md"
BLOCK: Final = re.compile(
    r'^(?P<fence>`{3,})(?:\w+ title="(?P<file>[^"]+)")?\n(?P<text>.*?)^(?P=fence)$', re.DOTALL | re.MULTILINE
)
STARTS_PROCESSES: Final = ("cwm synthesize", "cwm arena")
MADE: Final = tuple(f"arena/docs/pages/{name}.md" for name in ("names", "commands", "gallery"))
"""Pages that the code writes."""
FETCHED: Final = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""What a browser fetches without being asked."""
FROM_OUTSIDE: Final = re.compile(r"(?:https?:)?//")
BUILD_S: Final = 300


def test_every_step_of_the_tutorial_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    steps = 0
    for block in BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        else:
            for line in block["text"].splitlines():
                assert done(line, monkeypatch) == 0, f"{line}: {capfd.readouterr().err}"
                steps += 1
    assert steps == 10
    assert (tmp_path / "runs" / "lantern" / "report.html").exists()
    assert capfd.readouterr().out.splitlines()[-1] in {f"[{-won}, {won}]" for won in (-2.0, -1.0, 1.0, 2.0)}


def done(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Returns the exit code of a line that a reader types; whoever plays gives the first legal action."""
    if line.startswith("cwm "):
        monkeypatch.setattr("sys.stdin", io.StringIO("#1\n" * 20))
        spared = ["--workers", "1"] if line.startswith(STARTS_PROCESSES) else []
        return cli.run([*shlex.split(line)[1:], *spared])
    assert line.startswith("python ")
    shell = line.replace("python", shlex.quote(sys.executable), 1)
    return subprocess.run(shell, shell=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=60).returncode


class Page(HTMLParser):
    """The addresses that a page has fetched, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value for name, value in attrs if value and name == FETCHED.get(tag)]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_a_page_fetches_is_told_from_its_links() -> None:
    page = Page('<a href="https://x/y">z</a><link href=a.css><script src="//x/b.js"></script><img src="c.svg">')
    assert page.fetched == ["a.css", "//x/b.js", "c.svg"]
    assert [address for address in page.fetched if FROM_OUTSIDE.match(address)] == ["//x/b.js"]


def test_every_page_of_the_docs_is_in_the_menu_and_has_an_address() -> None:
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "arena" / "docs").rglob("*.md")}
    menu = re.findall(
        r"^ +- [^:\n]+: (\S+\.md)$", SETTINGS.read_text(encoding="utf-8").partition("\nnav:\n")[2], re.MULTILINE
    )
    hooks = ast.parse((ROOT / "arena" / "docs" / "site_hooks.py").read_text(encoding="utf-8"))
    table = next(
        node.value for node in hooks.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "PAGES"
    )
    assert table is not None
    addresses = ast.literal_eval(table)
    assert sorted(written - set(menu)) == []
    assert sorted(menu) == sorted({*addresses, *MADE})
    assert len({*addresses.values()}) == len(addresses)


@pytest.mark.extra("docs")
def test_the_site_is_built_without_a_warning_from_nothing_outside(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    site = tmp_path / "site"
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", SETTINGS, "-d", site]
    built = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=BUILD_S)
    assert built.returncode == 0, built.stderr

    pages = {path.name: Page(path.read_text(encoding="utf-8")) for path in site.glob("*.html")}
    assert [address for page in pages.values() for address in page.fetched if FROM_OUTSIDE.match(address)] == []
    sheets = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"@import|url\(\s*[\"']?(?:https?:)?//", sheets) == []
    assert 'class="mermaid"' not in (site / "packages.html").read_text(encoding="utf-8")  # its program would be fetched

    assert [name for name in face.NAMES if f"cwm.{name}" not in pages["names.html"].text] == []
    assert [place for place in commands() if place not in pages["commands.html"].text] == []
    assert "--install-completion" in pages["commands.html"].text
    assert "&#" not in pages["commands.html"].text
    pictures = {
        place.name for place in (ROOT / "arena" / "docs" / "pages").iterdir() if place.suffix in (".png", ".webp")
    }
    assert {f"{name}-{width}.webp" for name in ("play", "watch", "run") for width in (1280, 400)} < pictures
    assert pictures <= {path.name for path in site.iterdir()}
    assert all(re.search(name, (site / "gallery.html").read_text(encoding="utf-8")) for name in pictures)
    assert (site / "yokai-0.svg").read_text(encoding="utf-8").startswith("<svg")


def commands() -> Iterator[str]:
    """Yields every command as it is typed."""

    def below(group: Any, typed: str) -> Iterator[str]:
        yield typed
        for name, command in getattr(group, "commands", {}).items():
            yield from below(command, f"{typed} {name}")

    return below(typer.main.get_command(cli.app), "cwm")
