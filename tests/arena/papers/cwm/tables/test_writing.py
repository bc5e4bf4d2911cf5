import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from arena.papers.cwm.published.layout import Column
from arena.papers.cwm.published.numbers import Published
from arena.papers.cwm.tables import page, writing
from arena.papers.cwm.tables.cells import Cell, Measured, PaperTable, Row, number

WIN = Column("random", "win", "random.win")
CALLS = Column("", "calls", "calls", 1)
READ = Published("read", 0.97, "0.97", "0.97")
LOST = Published("unreadable", None, "", "o/5")


def sheet(*cells: Cell) -> PaperTable:
    columns = tuple(cell.column for cell in cells)
    return PaperTable(
        "table-99", "Table 99: a_b & 5 %", ("game",), columns, (Row(("{Odd} game_1",), cells),), ("One note.",)
    )


ONE = sheet(
    Cell(WIN, Measured("measured", 0.5, low=0.25, high=0.75, n=4, unit="matches", sources=("x/y#z",)), READ),
    Cell(CALLS, Measured("not played"), LOST),
)


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.99999, 4, "0.9999"),
        (1.0, 4, "1.0000"),
        (1 - 1e-12, 5, "1.00000"),
        (-0.001, 2, "0.00"),
        (-115.618, 2, "-115.62"),
        (0.997, 2, "1.00"),
        (3.0, 0, "3"),
    ],
)
def test_number_is_shown_with_its_decimals(value: float, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


def test_csv_has_a_line_a_cell() -> None:
    rows = list(csv.DictReader(io.StringIO(writing.csv_text(ONE))))
    assert [row["column"] for row in rows] == ["random.win", "calls"]
    assert rows[0] | {"value": "0.5", "low": "0.25", "high": "0.75", "n": "4", "sources": "x/y#z"} == rows[0]
    assert rows[1] | {"state": "not played", "value": "", "paper_state": "unreadable", "paper_copy": "o/5"} == rows[1]


def test_latex_escapes_what_latex_would_take_for_its_own() -> None:
    text = writing.latex(ONE)
    assert r"\{Odd\} game\_1 & 0.50 {[}0.25, 0.75{]} (0.97) & not played ({[}unreadable{]}) \\" in text
    assert r"Table 99: a\_b \& 5 \%" in text


def test_latex_rows_have_as_many_cells_as_columns(rebuilt: Path) -> None:
    for path in sorted((rebuilt / "tables").glob("*.tex")):
        text = path.read_text(encoding="utf-8")
        (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", text)
        body = text.split(r"\hline", 1)[1].rsplit(r"\hline", 1)[0]
        for line in (line for line in body.splitlines() if line.endswith(r" \\")):
            spans = sum(int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d+)\}", line))
            assert len(re.split(r"(?<!\\)&", line)) + spans == len(columns), (path.name, line)
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert not re.search(r"(?<!\\)[_%#]", bare)


def test_terminal_shows_the_papers_number_under_ours() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(writing.terminal_table(ONE))
    shown = console.export_text()
    for part in ("0.50 [0.25, 0.75]", "(0.97)", "not played", "([unreadable])", "One note."):
        assert part in shown


def test_table_with_many_columns_has_a_row_for_each_opponent(rebuilt: Path, tmp_path: Path, cwm: Any) -> None:
    text = cwm("paper", "--run", rebuilt, "--tables", "7", "--games", "tic_tac_toe", "--output", tmp_path).out
    assert "against" in text
    assert text.count("│ random") == 2
    assert "…" not in text


class Balance(HTMLParser):
    """Checks that every element that is opened is closed, in order, and notes what is loaded from elsewhere."""

    empty = frozenset({"meta", "br", "rect", "polyline", "circle", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not {"src", "href"} & {name for name, value in attrs if value and not value.startswith("#")}
        if tag not in self.empty:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.empty:
            assert self.open.pop() == tag


def test_page_is_whole_and_draws_the_figures(rebuilt: Path) -> None:
    parser = Balance()
    parser.feed((rebuilt / "report.html").read_text(encoding="utf-8"))
    assert parser.open == []
    # Two accuracies of tic-tac-toe; of Leduc poker four where transitions are tested, two where they are not.
    assert parser.seen.count("figure") in (6, 8, 10, 12)
    assert parser.seen.count("svg") > parser.seen.count("figure")
    assert "script" not in parser.seen


def test_markup_in_a_name_stays_text() -> None:
    made = sheet(Cell(WIN, Measured("measured", None, "<b>bold</b>"), None))
    assert "<b>bold" not in page.section([made])
