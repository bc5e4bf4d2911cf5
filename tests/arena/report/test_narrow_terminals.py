"""Every table that a command prints keeps all its names and numbers in terminals of 80, 100 and 120 columns."""

import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, Group, RenderableType

from arena.figures.sheet import Sheet
from tests.arena.report import test_written_tables as written

LONG = "cwm:runs/a-long-name-of-a-run-{}"


@pytest.fixture(scope="module")
def sheets() -> list[Sheet]:
    """Returns every table that the golden files show, agents under long names."""
    found: list[Sheet] = []

    def printed(*parts: RenderableType) -> str:
        for part in parts:
            found.extend(item for item in (part.renderables if isinstance(part, Group) else [part]) if _is_sheet(item))
        return ""

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(written, "printed", printed)
        written.reports()
        written.trained()
        written.measured()
        written.paper()
    return [_renamed(sheet) for sheet in found]


def _is_sheet(item: Any) -> bool:
    return isinstance(item, Sheet)


def _renamed(sheet: Sheet) -> Sheet:
    long = {name: LONG.format(number) for number, name in enumerate(sheet.names)}
    if not long:
        return sheet
    pattern = re.compile("|".join(rf"(?<!\\S){re.escape(name)}(?=$| |:)" for name in long))

    def renamed(text: str) -> str:
        return pattern.sub(lambda name: long[name[0]], text)

    texts = len(sheet.texts)
    rows = [(*map(renamed, row[:texts]), *row[texts:]) for row in sheet.rows]
    return replace(sheet, numbers=list(map(renamed, sheet.numbers)), rows=rows, names=list(long.values()))


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_table_cuts_a_name_or_a_number(sheets: list[Sheet], width: int) -> None:
    assert len(sheets) > 25
    for sheet in sheets:
        screen = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)
        screen.print(sheet)
        assert isinstance(screen.file, io.StringIO)
        text = screen.file.getvalue()
        assert "…" not in text
        lines = text.splitlines()
        assert max((len(line) for line in lines if line.startswith(("│", "┃"))), default=0) <= width, sheet.title
        held = " ".join([*sheet.numbers, *(str(cell) for row in sheet.rows for cell in row[: len(sheet.texts)])])
        for name in filter(held.__contains__, sheet.names):
            assert name in text, (sheet.title, name)
        for row in sheet.rows:
            for cell in map(str, row[len(sheet.texts) :]):
                pieces = cell.split() if cell[:1].isalpha() else cell.splitlines()
                assert all(piece in text for piece in pieces), (sheet.title, cell)
        words = {word for row in sheet.rows for cell in row[: len(sheet.texts)] for word in str(cell).split()}
        missing = words - set(re.split(r"[\s│┃]+", text)) - set(sheet.names) - {f"{name}:" for name in sheet.names}
        assert not missing, sheet.title
