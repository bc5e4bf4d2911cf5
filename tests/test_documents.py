"""The project's documents: what they link to and the files they name are there, and the index of results is short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "arena" / "RESULTS.md"
INDEX_LINES = 60
FOLDERS = ("arena", "cwm", "games", "prompts", "search", "tests")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?<![\w./<-])((?:" + "|".join(FOLDERS) + r"|\.ci)/[\w./*-]*)")
PLACEHOLDER = re.compile(r"[A-Z]{3,}")
"""A part of a path that stands for a name to be chosen, as in `games/GAME/notation.py`; `RULES.md` is a name itself."""


def documents() -> list[Path]:
    """Returns what is written for people; rules of games are prompts, and speak of moves."""
    inside = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md")))
    return [*sorted(ROOT.glob("*.md")), *(path for path in inside if path.name != "RULES.md")]


def links(text: str) -> list[str]:
    """Returns the targets of links to files, without the part after `#`."""
    return [target.partition("#")[0] for target in LINK.findall(text) if not target.startswith(("http", "#"))]


def named(text: str) -> list[str]:
    """Returns the files and folders of ours that are named in code, but for those whose path leaves a part open."""
    spans = "\n".join(CODE.findall(text))
    paths = (path.rstrip(".") for path in NAMED.findall(spans))
    return [path for path in paths if not any(PLACEHOLDER.fullmatch(part) for part in path.split("/"))]


def test_links_and_named_files_are_told_from_other_words() -> None:
    text = "[a](b/c.md#d) [e](https://x/y)\n`cwm xp arena/x.py` `games/GAME/notation.py` arena/no.py `DIR/requests`"
    assert links(text) == ["b/c.md"]
    assert named(text) == ["arena/x.py"]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [target for target in links(text) if not (path.parent / target).exists()] == []
    assert [name for name in named(text) if not any(ROOT.glob(name.rstrip("/")))] == []


def test_index_of_results_is_short_and_leads_to_every_page() -> None:
    text = INDEX.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= INDEX_LINES
    pages = {page.resolve() for page in (ROOT / "arena" / "papers").glob("*/RESULTS.md")}
    assert pages <= {(INDEX.parent / target).resolve() for target in links(text)}
